/* Writes docs/opencl-c.md: every built-in of opencl_c.def is compiled for every
 * type and width, its SHAVE cost read off the program of a kernel that calls it
 * once, its error taken from what the tests measured.
 *
 *   opencl_c ULP-FILE HEAD.md > docs/opencl-c.md
 *
 * Notes of chapters are read from HEAD.md's folder.
 *
 * Exit status 1 when a name of builtins.def is missing or a call that the table
 * has does not compile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/builtins/calls.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/artifact.h"

enum { MAX_FILE = 1 << 20 };

/* --- the table ----------------------------------------------------------- */

typedef enum {
    REAL,     /* half, float */
    FLOAT,    /* float */
    INTS,     /* the eight integers */
    INT24,    /* int, uint */
    NARROW,   /* integers with one of twice the size */
    SIGNED,   /* signed integers */
    ALL,      /* all ten */
    GEO,      /* half, float; up to 4 lanes */
    GEOFLOAT, /* float; up to 4 lanes */
    CROSS,    /* half, float; 3 and 4 lanes */
    SHUFFLE   /* all ten, vectors */
} type_class;

typedef struct {
    const char *chapter, *about; /* of a new chapter; else NULL */
    const char *notes;           /* file behind its rows, beside HEAD.md */
    const char *name, *call;
    type_class types;
    const char *accuracy; /* NULL = measured */
    const char *raw;      /* statements; call is NULL */
    const char *raw_types, *raw_cost;
} row;

#define ULP NULL
#define EXACT "exact"
#define STEPS "each step rounded"
#define AS(of) "as " of
#define VECTOR "in steps"
#define CHAPTER(title, text) {.chapter = title, .about = text},
#define CHAPTER_WITH(title, text, file) \
    {.chapter = title, .about = text, .notes = file},
#define FN(n, t, c, a) {.name = #n, .call = c, .types = t, .accuracy = a},
#define RAW(n, t, s, c) \
    {.name = #n, .raw = s, .raw_types = t, .raw_cost = c, .accuracy = ""},
static const row rows[] = {
#include "tests/conformance/opencl_c.def"
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct {
    const char *name, *unsigned_name, *signed_name;
    unsigned bytes;
    bool is_float, is_signed;
} types[] = {{"half", "ushort", "short", 2, true, true},
             {"float", "uint", "int", 4, true, true},
             {"char", "uchar", "char", 1, false, true},
             {"uchar", "uchar", "char", 1, false, false},
             {"short", "ushort", "short", 2, false, true},
             {"ushort", "ushort", "short", 2, false, false},
             {"int", "uint", "int", 4, false, true},
             {"uint", "uint", "int", 4, false, false},
             {"long", "ulong", "long", 8, false, true},
             {"ulong", "ulong", "long", 8, false, false}};
enum { N_TYPES = sizeof types / sizeof *types, HALF = 0, FLOAT_T = 1, INT = 6 };

static bool takes(type_class c, unsigned t)
{
    switch (c) {
    case REAL:
    case GEO:
    case CROSS:
        return types[t].is_float;
    case FLOAT:
    case GEOFLOAT:
        return t == FLOAT_T;
    case INTS:
        return !types[t].is_float;
    case INT24:
        return t == INT || t == INT + 1;
    case NARROW:
        return !types[t].is_float && types[t].bytes < 8;
    case SIGNED:
        return !types[t].is_float && types[t].is_signed;
    default:
        return true;
    }
}

static bool takes_width(type_class c, unsigned n)
{
    return c == GEO || c == GEOFLOAT ? n <= 4
           : c == CROSS              ? n == 3 || n == 4
           : c == SHUFFLE            ? n != 1 && n != 3
                                     : true;
}

/* --- kernels ------------------------------------------------------------- */

static const char head[] =
    "#define IN(p, T) (*(__global const T *)(p))\n"
    "#define ARGS __global char *o, __global char *o2, __global const char *a,"
    " __global const char *b, __global const char *c\n"
    "#define ONE __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void"
    "\n";

/* One call, on a line of its own. */
static void put_call(const row *r, unsigned t, unsigned n, str *s)
{
    const char *c = r->call;
    char w[12] = "";

    if (n > 1)
        snprintf(w, sizeof w, "%u", n);
    str_printf(s, "{ typedef %s%s T; typedef int%s K; typedef %s%s U; ",
               types[t].name, w, w, types[t].unsigned_name, w);
    str_printf(s, "typedef %s%s S; T x = IN(a, T);", types[t].signed_name, w);
    if (strstr(c, " y"))
        str_puts(s, " T y = IN(b, T);");
    if (strstr(c, " z"))
        str_puts(s, " T z = IN(c, T);");
    if (strstr(c, " k"))
        str_puts(s, " K k = IN(b, K);");
    if (strstr(c, " u") || strstr(c, "(u"))
        str_puts(s, " U u = IN(b, U);");
    if (strstr(c, " m)"))
        str_puts(s, " S m = IN(c, S);");
    if (strstr(c, " mask"))
        str_puts(s, " U mask = IN(c, U);");
    str_printf(s,
               " T p = x; K q = 0; (void)p; (void)q;\n__typeof__(%s) r =\n%s;\n"
               "*(__global __typeof__(%s) *)o = r;%s%s }\n",
               c, c, c, strstr(c, "&p") ? " *(__global T *)o2 = p;" : "",
               strstr(c, "&q") ? " *(__global K *)o2 = q;" : "");
}

static const unsigned widths[] = {1, 2, 3, 4, 8, 16};

static void put_all(const row *r, unsigned t, str *s)
{
    str_printf(s, "__kernel void all_%s(ARGS)\n{\n", types[t].name);
    for (unsigned k = 0; k < 6; k++)
        if (takes_width(r->types, widths[k]))
            put_call(r, t, widths[k], s);
    str_puts(s, "}\n");
}

static bool is_geometric(type_class c)
{
    return c == GEO || c == GEOFLOAT || c == CROSS || c == SHUFFLE;
}

static void put_one(const row *r, unsigned t, str *s)
{
    str_printf(s, "ONE one_%s(ARGS)\n{\n", types[t].name);
    put_call(r, t, is_geometric(r->types) ? 4 : 1, s);
    str_puts(s, "}\n");
}

/* --- what one call costs ------------------------------------------------- */

typedef struct {
    bool known;
    uint32_t cycles;
    char ops[160];        /* of the call's line */
    const char *calls[4]; /* routines and helpers it calls */
    unsigned n_calls;
    uint32_t call_cost; /* of those alone */
    isa_evidence weakest;
} cost;

static bool used_ops[ISA_N_OPS];

static bool is_global(const isa_instr *in, unsigned flag)
{
    return isa_ops[in->op].flags & flag && in->sub == ISA_GLOBAL &&
           isa_ops[in->op].sub == ISA_SUB_SPACE;
}

static void note_op(const isa_function *f, const isa_instr *in, cost *c)
{
    const isa_op_info *op = &isa_ops[in->op];
    size_t n = strlen(c->ops);
    char padded[32];

    if (in->op == ISA_OP_ldarg || in->op == ISA_OP_starg ||
        in->op == ISA_OP_ldret || op->flags & ISA_F_BRANCH ||
        is_global(in, ISA_F_LOAD | ISA_F_STORE))
        return;
    if (op->flags & ISA_F_CALLEE) {
        if (c->n_calls < 4)
            c->calls[c->n_calls++] = f->callees[in->imm];
        c->call_cost += in->cost;
        return;
    }
    used_ops[in->op] = true;
    if (op->evidence > c->weakest)
        c->weakest = op->evidence;
    snprintf(padded, sizeof padded, "%s%s", n ? " " : "", op->name);
    if (strstr(c->ops, op->name) || n + strlen(padded) + 1 > sizeof c->ops)
        return;
    memcpy(c->ops + n, padded, strlen(padded) + 1);
}

/* From the last operand's arrival to the store of the last result. mode:
 * "@load" from the first access on, "@store" one more for the store itself. */
static void measure(const isa_function *f, const char *mode, cost *c)
{
    uint64_t base = 0, from = 0, to = 0, first = UINT64_MAX;

    for (uint32_t b = 0; b < f->n_blocks; b++) {
        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            const isa_instr *in = &f->instrs[f->blocks[b].first + k];
            uint64_t t = base + in->cycle;

            if (is_global(in, ISA_F_LOAD)) {
                from = t + isa_ops[in->op].lat > from ? t + isa_ops[in->op].lat
                                                      : from;
                first = t < first ? t : first;
            }
            if (is_global(in, ISA_F_STORE))
                to = t > to ? t : to;
            if (in->line)
                note_op(f, in, c);
        }
        base += f->blocks[b].cycles;
    }
    if (!strcmp(mode, "@load") && first != UINT64_MAX)
        from = first;
    if (!strcmp(mode, "@store"))
        to++;
    if (!strcmp(mode, "@call"))
        from = 0, to = c->call_cost;
    c->known = true;
    c->cycles = to > from ? (uint32_t)(to - from) : 0;
}

/* --- compiling ----------------------------------------------------------- */

static bool front(const char *text, arena *a, fe_unit *unit, vpu_error *err)
{
    return !fe_compile(&(fe_job){.path = "<list>", .text = text}, a, unit, err);
}

static bool entry_of(const fe_unit *unit, const char *entry, arena *a,
                     const isa_function **scalar, vpu_error *err)
{
    const isa_function *programs[SIM_N_VARIANTS];
    sim_kernel k = {0};
    artifact x;

    const artifact_job job = {.bitcode = unit->bitcode,
                              .n_bytes = unit->n_bytes,
                              .path = "<list>",
                              .entry = entry,
                              .kind = ARTIFACT_NO_HOST};

    if (artifact_build(&job, NULL, a, &x, err) ||
        artifact_read(x.file, x.n_bytes, a, &k, NULL, err) ||
        kernel_programs(&k, a, programs, err))
        return false;
    *scalar = programs[SIM_SCALAR];
    return true;
}

typedef struct {
    bool supported[N_TYPES];
    cost costs[N_TYPES]; /* of HALF, FLOAT_T and INT */
    bool ok;
} findings;

static void complain(const char *what, const char *type, const vpu_error *err)
{
    fprintf(stderr, "opencl_c: %s %s: %s\n", what, type, err->msg);
}

static void try_types(const row *r, arena *a, findings *out)
{
    str s = {0};
    fe_unit unit;
    vpu_error err = {0};

    str_puts(&s, head);
    for (unsigned t = 0; t < N_TYPES; t++)
        if (takes(r->types, t)) {
            put_all(r, t, &s);
            put_one(r, t, &s);
        }
    out->ok = front(str_text(&s), a, &unit, &err);
    str_free(&s);
    if (!out->ok) {
        complain(r->name, "", &err);
        return;
    }
    for (unsigned t = 0; t < N_TYPES; t++) {
        const isa_function *f;

        if (!takes(r->types, t))
            continue;
        out->supported[t] = entry_of(
            &unit, arena_printf(a, "all_%s", types[t].name), a, &f, &err);
        if (!out->supported[t])
            complain(r->name, types[t].name, &err);
        out->ok &= out->supported[t];
        if ((t == HALF || t == FLOAT_T || t == INT) &&
            entry_of(&unit, arena_printf(a, "one_%s", types[t].name), a, &f,
                     &err))
            measure(f, "", &out->costs[t]);
    }
}

static void try_raw(const row *r, arena *a, findings *out)
{
    const isa_function *f;
    fe_unit unit;
    vpu_error err = {0};
    const char *text =
        arena_printf(a,
                     "%sONE raw(__global char *o, __global const char *a, "
                     "__local char *l, int i)\n{\n%s\n}\n",
                     head, r->raw);

    out->ok =
        front(text, a, &unit, &err) && entry_of(&unit, "raw", a, &f, &err);
    if (!out->ok)
        complain(r->name, "", &err);
    else if (!*r->raw_cost || *r->raw_cost == '@')
        measure(f, r->raw_cost, &out->costs[INT]);
}

/* --- measured errors ----------------------------------------------------- */

typedef struct {
    char name[32], type[8];
    double worst, limit;
    unsigned n;
} ulp;

static ulp *ulps;
static size_t n_ulps;

/* "name type worst limit n" a line; the largest of equal ones counts. */
static bool read_ulps(const char *path)
{
    FILE *f = fopen(path, "r");
    ulp u;

    if (!f)
        return false;
    while (fscanf(f, "%31s %7s %lf %lf %u", u.name, u.type, &u.worst, &u.limit,
                  &u.n) == 5) {
        ulp *more = realloc(ulps, (n_ulps + 1) * sizeof *ulps);

        if (!more)
            break;
        ulps = more;
        ulps[n_ulps++] = u;
    }
    fclose(f);
    return n_ulps > 0;
}

static const ulp *find_ulp(const char *name, const char *type)
{
    const ulp *best = NULL;

    for (size_t k = 0; k < n_ulps; k++)
        if (!strcmp(ulps[k].name, name) && !strcmp(ulps[k].type, type) &&
            (!best || ulps[k].worst > best->worst))
            best = &ulps[k];
    return best;
}

/* --- output -------------------------------------------------------------- */

static const struct {
    const char *name, *about;
} abouts[] = {
#define ROUTINE(name, n, c16, c32, about) {#name, about},
#define ROUTINE_D(name, n, c16, c32, about) {#name, about},
#define ROUTINE_TI(name, c16, c32, about) {#name, about},
#define ROUTINE_IT(name, n, c16, c32, about) {#name, about},
#include "sim/builtins/routines.def"
};

static const char *routine_about(const builtin_routine *r)
{
    for (size_t k = 0; k < sizeof abouts / sizeof *abouts; k++)
        if (!strcmp(abouts[k].name, r->name))
            return abouts[k].about;
    return "";
}

static const char *evidence_name(isa_evidence e)
{
    return e == ISA_DOCUMENTED ? "DOC" : e == ISA_INFERRED ? "INF" : "EST";
}

/* A function that nothing measured. */
static bool missing;

static void put_ulp(const row *r, unsigned t)
{
    const ulp *u;

    if (!takes(r->types, t)) {
        printf(" – |");
    } else if (r->accuracy) {
        printf(" %s |", r->accuracy);
    } else if ((u = find_ulp(r->name, types[t].name))) {
        printf(u->worst > 9999 ? " %.1e" : " %.2f", u->worst);
        if (t == FLOAT_T)
            printf(" of %g", u->limit);
        printf(" |");
    } else {
        printf(" ? |");
        missing = true;
    }
}

static void put_cost(const cost *c)
{
    if (c->known)
        printf(" %u |", c->cycles);
    else
        printf(" – |");
}

/* Where the cost of the first type that has one comes from. */
static void put_from(const cost *c)
{
    const char *sep = " ";

    if (!c->n_calls && !*c->ops)
        printf(" no operation of its own");
    if (c->n_calls)
        printf(" EST:");
    for (unsigned k = 0; k < c->n_calls; k++, sep = "; ") {
        bool half;
        const builtin_routine *r = call_routine(call_find(c->calls[k]), &half);

        if (r)
            printf("%sroutine `%s`, %u / %u: %s", sep, r->name, r->cost16,
                   r->cost32, routine_about(r));
        else
            printf("%shelper `%s`", sep, c->calls[k]);
    }
    if (*c->ops && !c->n_calls)
        printf(" %s:", evidence_name(c->weakest));
    if (*c->ops)
        printf("%s`%s`", sep, c->ops);
    printf(" |\n");
}

static const cost *main_cost(const findings *f)
{
    return f->costs[HALF].known      ? &f->costs[HALF]
           : f->costs[FLOAT_T].known ? &f->costs[FLOAT_T]
                                     : &f->costs[INT];
}

static const char *class_name(type_class c)
{
    static const char *const names[] = {[REAL] = "half, float",
                                        [FLOAT] = "float",
                                        [INTS] = "char … ulong",
                                        [INT24] = "int, uint",
                                        [NARROW] = "char … uint",
                                        [SIGNED] = "char, short, int, long",
                                        [ALL] = "all ten",
                                        [GEO] = "half, float; 1–4",
                                        [GEOFLOAT] = "float; 1–4",
                                        [CROSS] = "half, float; 3, 4",
                                        [SHUFFLE] = "all ten; 2, 4, 8, 16"};

    return names[c];
}

static void put_supported(const row *r, const findings *f)
{
    bool all = f->ok;

    printf("| `%s` | ", r->name);
    if (all) {
        printf("%s | yes |", r->raw ? r->raw_types : class_name(r->types));
        return;
    }
    printf("%s | no:", r->raw ? r->raw_types : class_name(r->types));
    for (unsigned t = 0; t < N_TYPES; t++)
        if (!r->raw && takes(r->types, t) && !f->supported[t])
            printf(" %s", types[t].name);
    printf(" |");
}

enum { COL_RAW = 0, COL_REAL = 1, COL_INT = 2 };

/* The columns a chapter's rows need. */
static int columns(size_t chapter)
{
    int c = COL_RAW;

    for (size_t k = chapter + 1; k < N_ROWS && !rows[k].chapter; k++)
        if (!rows[k].raw)
            c |= (takes(rows[k].types, FLOAT_T) ? COL_REAL : 0) |
                 (takes(rows[k].types, INT) ? COL_INT : 0);
    return c;
}

static void put_columns(int c)
{
    static const char *const heads[] = {
        [COL_RAW] = "cycles | from |\n|---|---|---|---|---|\n",
        [COL_REAL] = "half ULP | float ULP | half cycles | float cycles | from "
                     "|\n|---|---|---|---|---|---|---|---|\n",
        [COL_INT] = "accuracy | int cycles | from |\n|---|---|---|---|---|---|"
                    "\n",
        [COL_REAL | COL_INT] =
            "half ULP | float ULP | integers | half cycles | float cycles | "
            "int cycles | from |\n|---|---|---|---|---|---|---|---|---|---|\n"};

    printf("\n| built-in | types | supported | %s", heads[c]);
}

static bool put_row(const row *r, int cols)
{
    arena *a = arena_create(0);
    findings f = {0};

    if (r->raw)
        try_raw(r, a, &f);
    else
        try_types(r, a, &f);
    put_supported(r, &f);
    if (r->raw) {
        put_cost(&f.costs[INT]);
        if (f.costs[INT].known && !strcmp(r->raw_cost, "@group"))
            printf(" EST: `ldarg` and multiplies |\n");
        else if (f.costs[INT].known)
            put_from(&f.costs[INT]);
        else
            printf(" %s |\n", r->raw_cost);
    } else {
        if (cols & COL_REAL) {
            put_ulp(r, HALF);
            put_ulp(r, FLOAT_T);
        }
        if (cols & COL_INT)
            printf(" %s |", takes(r->types, INT) ? r->accuracy : "–");
        if (cols & COL_REAL) {
            put_cost(&f.costs[HALF]);
            put_cost(&f.costs[FLOAT_T]);
        }
        if (cols & COL_INT)
            put_cost(&f.costs[INT]);
        put_from(main_cost(&f));
    }
    arena_destroy(a);
    return f.ok;
}

static void put_operations(void)
{
    printf("\n## Operations\n\nThe operations named above, from `isa/ops.def`; "
           "`make est` lists all estimates.\n\n"
           "| operation | latency | issue interval | from | what |\n"
           "|---|---|---|---|---|\n");
    for (unsigned k = 0; k < ISA_N_OPS; k++)
        if (used_ops[k])
            printf("| `%s` | %u | %u | %s: %s | %s |\n", isa_ops[k].name,
                   isa_ops[k].lat, isa_ops[k].interval,
                   evidence_name(isa_ops[k].evidence), isa_ops[k].source,
                   isa_ops[k].about);
}

static bool listed(const char *name)
{
    static const struct {
        const char *ours, *name;
    } renamed[] = {
        {"__vpu_async_copy", "async_work_group_copy"},
        {"__vpu_async_strided_copy", "async_work_group_strided_copy"},
        {"__vpu_wait_group_events", "wait_group_events"},
        {"__vpu_prefetch", "prefetch"},
        {"convert_", "convert_half"}};

    for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
        if (!strcmp(name, renamed[k].ours))
            name = renamed[k].name;
    for (size_t k = 0; k < N_ROWS; k++)
        if (rows[k].name && !strcmp(rows[k].name, name))
            return true;
    fprintf(stderr, "opencl_c: %s is not in opencl_c.def\n", name);
    return false;
}

/* The names of a row of lacking.def. */
static void put_names(const char *id)
{
    static const struct {
        const char *id, *pattern;
    } spellings[] = {
#define LACKING(id, name, why, instead)
#define SPELT(id, pattern) {#id, pattern},
#include "sim/builtins/lacking.def"
    };
    const char *comma = "";

    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
        if (!strcmp(spellings[k].id, id)) {
            printf("%s`%s`", comma, spellings[k].pattern);
            comma = ", ";
        }
}

/* What the messages say, as a table. */
static void put_lacking(void)
{
    static const struct {
        const char *id, *name, *why, *instead;
    } things[] = {
#define LACKING(id, name, why, instead) {#id, name, why, instead},
#define SPELT(id, pattern)
#include "sim/builtins/lacking.def"
    };

    printf(
        "\nWhat kernels written for GPUs use besides. A message about one of "
        "these names says\nthe same (`sim/builtins/lacking.def`).\n\n"
        "| a VPU has no | why | instead | names |\n|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof things / sizeof *things; k++) {
        printf("| %s | %s | %s | ", things[k].name, things[k].why,
               things[k].instead);
        put_names(things[k].id);
        puts(" |");
    }
}

/* A file of HEAD.md's folder, behind a blank line. */
static bool put_notes(const char *beside, const char *name, arena *a)
{
    vpu_error err = {0};
    char *text;
    size_t n;

    if (!name)
        return true;
    if (file_read(file_join(a, file_dirname(a, beside), name), MAX_FILE, a,
                  &text, &n, &err)) {
        fprintf(stderr, "opencl_c: %s\n", err.msg);
        return false;
    }
    printf("\n%.*s", (int)n, text);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const builtins[] = {
#define BUILTIN(name, fn, data, types) #name,
#define FAMILY(name, fn, types) #name,
#include "sim/builtins/builtins.def"
    };
    arena *a = arena_create(0);
    vpu_error err = {0};
    bool ok = true;
    const char *notes = NULL;
    char *text;
    size_t n;
    int cols = COL_RAW;

    if (argc != 3 || !read_ulps(argv[1]) ||
        file_read(argv[2], MAX_FILE, a, &text, &n, &err)) {
        fprintf(stderr, "usage: opencl_c ULP-FILE HEAD.md %s\n", err.msg);
        return 2;
    }
    for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++)
        ok &= listed(builtins[k]);
    fwrite(text, 1, n, stdout);
    put_lacking();
    for (size_t k = 0; k < N_ROWS; k++) {
        if (rows[k].chapter) {
            ok &= put_notes(argv[2], notes, a);
            notes = rows[k].notes;
            printf("\n## %s\n", rows[k].chapter);
            if (*rows[k].about)
                printf("\n%s\n", rows[k].about);
            put_columns(cols = columns(k));
            continue;
        }
        ok &= put_row(&rows[k], cols);
    }
    ok &= put_notes(argv[2], notes, a);
    put_operations();
    arena_destroy(a);
    free(ulps);
    if (missing)
        fprintf(stderr, "opencl_c: ? marks functions that no test measured\n");
    return !ok || missing;
}
