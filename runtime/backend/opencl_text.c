/* Rewrites kernels word by word. */
#include "runtime/backend/opencl_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend/opencl_bytes.h"
#include "runtime/backend/opencl_reach.h"
#include "runtime/backend/opencl_words.h"
#include "runtime/backend/preprocess.h"

__asm__(".section .rodata\n"
        "vpu_opencl_prelude_start:\n"
        ".incbin \"runtime/backend/opencl_prelude.cl\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_opencl_prelude_start[];

enum { MAX_WORD = 64 };

typedef struct {
    const opencl_source *s;
    arena *a;
    opencl_text *out;
    vpu_error *err;
    const char *file; /* where the text is, from its line marks */
    uint32_t line;
    const char *text, *p;
    /* For typedef half NAME; */
    bool in_typedef, typedef_half, typedef_integer;
    char last[MAX_WORD]; /* the last word of it */
    bool after_name;     /* the token before is a name, not return */
    size_t half_names_cap, half_names;
    const char **integer_names; /* typedefs of integers */
    size_t n_integer_names, integer_names_cap;
} rewriter;

static bool is(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && !strncmp(p, word, n);
}

static bool starts(const char *p, size_t n, const char *with)
{
    return n >= strlen(with) && !strncmp(p, with, strlen(with));
}

/* "", or the 2, 3, 4, 8, 16 of a vector. */
static bool is_lanes(const char *p, size_t n)
{
    return n == 0 || is(p, n, "2") || is(p, n, "3") || is(p, n, "4") ||
           is(p, n, "8") || is(p, n, "16");
}

/* half, or a vector of them. */
static bool is_half(const char *p, size_t n)
{
    return starts(p, n, "half") && is_lanes(p + 4, n - 4);
}

static bool is_integer_type(const char *p, size_t n)
{
    static const char *const names[] = {"char", "short", "int", "long"};

    if (is(p, n, "unsigned") || is(p, n, "signed"))
        return true;
    if (n && *p == 'u') {
        p++;
        n--;
    }
    for (int i = 0; i < 4; i++)
        if (starts(p, n, names[i]) &&
            is_lanes(p + strlen(names[i]), n - strlen(names[i])))
            return true;
    return false;
}

static bool is_vector(const char *p, size_t n)
{
    size_t base = n;

    while (base && isdigit((unsigned char)p[base - 1]))
        base--;
    if (base == n || !is_lanes(p + base, n - base))
        return false;
    return is(p, base, "float") || is(p, base, "half") ||
           is_integer_type(p, base);
}

static vpu_status refuse(rewriter *w, const char *what, size_t n,
                         const char *why)
{
    return err_at(w->err, VPU_ERR_UNSUPPORTED, w->file, w->line, 0, "'%.*s' %s",
                  (int)n, what, why);
}

/* --- words --------------------------------------------------------------- */

static bool is_shave_known(const char *p, size_t n)
{
    static const char *const names[] = {
        "__builtin_shave_sau_sumx_f16_r", "__builtin_shave_sau_exp2_f16_l_r",
        "__builtin_shave_cmu_alignvec_rri_short8",
        "__builtin_shave_cmu_min_i32_rr_int"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(p, n, names[i]))
            return true;
    return false;
}

static bool is_copy_word(const char *p, size_t n)
{
    return is(p, n, "event_t") || is(p, n, "async_work_group_copy") ||
           is(p, n, "async_work_group_strided_copy") ||
           is(p, n, "wait_group_events");
}

/* Calls of min and max; p stands in the text. */
static bool is_min_max(const char *p, size_t n)
{
    return (is(p, n, "min") || is(p, n, "max")) &&
           p[n + strspn(p + n, " \t\n")] == '(';
}

/* Length of a vload or vstore of halves without its rounding mode; 0 = it is
 * none. */
static size_t half_access(const char *p, size_t n)
{
    if (!starts(p, n, "vload_half") && !starts(p, n, "vloada_half") &&
        !starts(p, n, "vstore_half") && !starts(p, n, "vstorea_half"))
        return 0;
    if (n > 4 && p[n - 4] == '_' && p[n - 3] == 'r' && p[n - 2] == 't')
        n -= 4;
    return n;
}

static bool is_half_constant(const char *p, size_t n)
{
    return starts(p, n, "HALF_") ||
           (starts(p, n, "M_") && n > 4 && is(p + n - 2, 2, "_H"));
}

static size_t word_length(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

static bool is_plain_type(const char *p, size_t n)
{
    return (starts(p, n, "float") && is_lanes(p + 5, n - 5)) ||
           is_integer_type(p, n) || is(p, n, "double") || is(p, n, "bool");
}

/* Behind the word `union`: is each member, as far as the text tells, of a type
 * that is the same with promoted halves? A union without members here was
 * declared before. */
static bool is_plain_union(const char *p)
{
    static const char blanks[] = " \t\r\n";
    const char *body = strpbrk(p, "{;)=");

    if (!body || *body != '{')
        return body;
    for (p = body + 1 + strspn(body + 1, blanks); *p && *p != '}';) {
        size_t n = word_length(p);

        while (is(p, n, "const") || is(p, n, "volatile")) {
            p += n + strspn(p + n, blanks);
            n = word_length(p);
        }
        if (!is_plain_type(p, n))
            return false;
        p += strcspn(p, ";{}");
        if (*p != ';')
            return false;
        p += 1 + strspn(p + 1, blanks);
    }
    return *p == '}';
}

static vpu_status check_word(rewriter *w, const char *p, size_t n)
{
    if (starts(p, n, "__builtin_shave_") && !is_shave_known(p, n))
        return refuse(w, p, n,
                      "is an instruction of the SHAVE without a meaning in "
                      "OpenCL C: backend opencl cannot run it");
    if (!w->s->promote)
        return VPU_OK;
    if (starts(p, n, "as_half"))
        return refuse(w, p, n,
                      "looks at the bits of a half: halves are floats here, "
                      "because the device has no cl_khr_fp16");
    if (is(p, n, "union") && !is_plain_union(p + n))
        return refuse(w, p, n,
                      "may show a half as something else: halves are floats "
                      "here, because the device has no cl_khr_fp16");
    return VPU_OK;
}

static void put_word(rewriter *w, const char *p, size_t n)
{
    str *o = &w->out->body;
    size_t access = w->s->promote ? half_access(p, n) : 0;

    w->out->min_max |= is_min_max(p, n);
    w->out->copies |= is_copy_word(p, n) || starts(p, n, "async_work_group_") ||
                      starts(p, n, "WorkGroupDma") ||
                      starts(p, n, "WorkItemDma") ||
                      is(p, n, "item_dma_event_t");

    if (access)
        str_printf(o, "__vpu_%.*s", (int)access, p);
    else if (w->s->promote && starts(p, n, "convert_half"))
        str_printf(o, "convert_float%.*s", (int)(n - 12), p + 12);
    else if (is_vector(p, n) || is_copy_word(p, n) || is_min_max(p, n) ||
             (w->s->promote && (is_half(p, n) || is_half_constant(p, n))))
        str_printf(o, "__vpu_%.*s", (int)n, p);
    else
        str_add(o, p, n);
}

static bool is_half_name(const rewriter *w, const char *p, size_t n)
{
    for (size_t i = 0; i < w->half_names; i++)
        if (is(p, n, w->out->half_names[i]))
            return true;
    return is_half(p, n);
}

static bool is_integer_name(const rewriter *w, const char *p, size_t n)
{
    for (size_t i = 0; i < w->n_integer_names; i++)
        if (is(p, n, w->integer_names[i]))
            return true;
    return is_integer_type(p, n);
}

/* typedef ... half ... NAME; */
static void watch_typedef(rewriter *w, const char *p, size_t n)
{
    if (is(p, n, "typedef")) {
        w->in_typedef = true;
        w->typedef_half = w->typedef_integer = false;
    } else if (w->in_typedef) {
        w->typedef_half |= is_half_name(w, p, n);
        w->typedef_integer |= is_integer_name(w, p, n);
        snprintf(w->last, sizeof w->last, "%.*s", (int)n, p);
    }
}

static void end_typedef(rewriter *w)
{
    if (w->in_typedef && w->typedef_half)
        *arena_append(w->a, w->out->half_names, w->half_names,
                      w->half_names_cap) = arena_strdup(w->a, w->last);
    if (w->in_typedef && w->typedef_integer)
        *arena_append(w->a, w->integer_names, w->n_integer_names,
                      w->integer_names_cap) = arena_strdup(w->a, w->last);
    w->in_typedef = false;
}

/* At '(': a cast to a pointer, "(__global const short8 *)"? Looks ahead only.
 */
static vpu_status check_cast(rewriter *w)
{
    const char *p = w->p + 1, *integer = NULL;
    bool half = false;
    size_t n, n_integer = 0;

    for (;; p += n) {
        p += strspn(p, " \t\n");
        n = opencl_name_length(p);
        if (!n)
            break;
        if (is_integer_name(w, p, n)) {
            integer = p;
            n_integer = n;
        }
        half |= is_half_name(w, p, n);
    }
    if (*p != '*')
        return VPU_OK;
    while (*p == '*' || *p == ' ' || opencl_is_name_char(*p)) {
        n = opencl_name_length(p);
        if (n && !is(p, n, "const") && !is(p, n, "restrict") &&
            !is(p, n, "volatile"))
            return VPU_OK;
        p += n ? n : 1;
    }
    if (*p != ')')
        return VPU_OK;
    if (half && !w->out->half_cast_line) {
        w->out->half_cast_line = w->line;
        w->out->half_cast_file = w->file;
    }
    if (integer && w->s->promote && w->out->halves)
        return refuse(w, integer, n_integer,
                      "behind a cast pointer may look at the bits of "
                      "halves: halves are floats here, because the device has "
                      "no cl_khr_fp16");
    return VPU_OK;
}

/* --- the text ------------------------------------------------------------ */

/* "# 12 "file" 2" at the start of a line. */
static void read_mark(rewriter *w, const char *p)
{
    char *end;
    unsigned long line = strtoul(p + 1, &end, 10);
    const char *close;

    if (end == p + 1 || end[0] != ' ' || end[1] != '"')
        return;
    close = strchr(end + 2, '"');
    if (!close)
        return;
    w->line = (uint32_t)line - 1; /* its own newline counts */
    w->file = arena_strndup(w->a, end + 2, (size_t)(close - end - 2));
}

static void copy(rewriter *w, size_t n)
{
    str_add(&w->out->body, w->p, n);
    w->p += n;
}

/* A line beginning with '#': a mark, or a pragma. */
static void directive(rewriter *w)
{
    size_t n = strcspn(w->p, "\n");

    read_mark(w, w->p);
    if (w->s->promote && memmem(w->p, n, "cl_khr_fp16", 11))
        w->p += n; /* the device would complain */
    else
        copy(w, n);
}

static void literal(rewriter *w)
{
    copy(w, opencl_literal_length(w->p));
    w->after_name = false;
}

/* A number, with the h of a half taken for an f. */
static void number(rewriter *w)
{
    size_t n = 0;
    bool hex = w->p[0] == '0' && (w->p[1] == 'x' || w->p[1] == 'X');

    while (opencl_is_name_char(w->p[n]) || w->p[n] == '.' ||
           (n && (w->p[n] == '+' || w->p[n] == '-') &&
            strchr(hex ? "pP" : "eEpP", w->p[n - 1])))
        n++;
    if (w->s->promote && (w->p[n - 1] == 'h' || w->p[n - 1] == 'H')) {
        str_add(&w->out->body, w->p, n - 1);
        str_puts(&w->out->body, "f");
        w->p += n;
    } else {
        copy(w, n);
    }
    w->after_name = false;
}

/* Names the first copy whose bytes are those of halves. */
static void watch_copy(rewriter *w, size_t n)
{
    const char *size;
    size_t length;

    if (!w->s->promote || w->out->bytes_line ||
        (!starts(w->p, n, "WorkGroupDmaCreate") &&
         !starts(w->p, n, "WorkItemDmaCreate")))
        return;
    size = opencl_bytes_by_hand(w->text, w->p, &length);
    if (size) {
        w->out->bytes = arena_strndup(w->a, size, length);
        w->out->bytes_file = w->file;
        w->out->bytes_line = w->line;
    }
}

static vpu_status word(rewriter *w)
{
    size_t n = opencl_name_length(w->p);
    vpu_status st = check_word(w, w->p, n);

    watch_typedef(w, w->p, n);
    watch_copy(w, n);
    put_word(w, w->p, n);
    w->after_name = !is(w->p, n, "return");
    w->p += n;
    return st;
}

static vpu_status punctuation(rewriter *w)
{
    vpu_status st = VPU_OK;

    if (*w->p == '(' && !w->after_name)
        st = check_cast(w);
    if (*w->p == ';')
        end_typedef(w);
    if (!isspace((unsigned char)*w->p))
        w->after_name = *w->p == ']';
    w->line += *w->p == '\n';
    copy(w, 1);
    return st;
}

static vpu_status rewrite(rewriter *w)
{
    vpu_status st = VPU_OK;
    bool line_start = true;

    while (*w->p && !st) {
        char c = *w->p;

        if (c == '#' && line_start)
            directive(w);
        else if (c == '"' || c == '\'')
            literal(w);
        else if (isdigit((unsigned char)c) ||
                 (c == '.' && isdigit((unsigned char)w->p[1])))
            number(w);
        else if (opencl_is_name_char(c))
            st = word(w);
        else
            st = punctuation(w);
        line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
    }
    w->out->n_half_names = (uint32_t)w->half_names;
    return st;
}

static bool names_half(const char *p)
{
    while (*p) {
        size_t n = opencl_name_length(p);

        if (n && is_half(p, n))
            return true;
        p += n ? n : 1;
    }
    return false;
}

vpu_status opencl_text_read(const opencl_source *s, arena *a, opencl_text *out,
                            vpu_error *err)
{
    const char **options = arena_array(a, const char *, s->n_options + 1);
    uint32_t n = s->n_options;
    rewriter w = {.s = s, .a = a, .out = out, .err = err, .file = s->path};
    char *text;
    vpu_status st;

    *out = (opencl_text){0};
    if (n)
        memcpy(options, s->options, n * sizeof *options);
    if (s->promote && s->moves_halves)
        options[n++] = "-Dushort=__vpu_half";
    st = preprocess(&(const preprocess_job){.path = s->path,
                                            .text = s->text,
                                            .options = options,
                                            .n_options = n},
                    a, &text, err);
    if (st)
        return st;
    w.text = w.p = opencl_reach(text, s->entry, a);
    out->halves = names_half(w.text);
    w.line = 1;
    st = rewrite(&w);
    if (st)
        opencl_text_free(out);
    return st;
}

void opencl_text_free(opencl_text *t)
{
    str_free(&t->body);
}

/* --- the program --------------------------------------------------------- */

static const char *space_of(const sim_arg *p)
{
    switch (p->space) {
    case SIM_ARG_GLOBAL:
        return "__global ";
    case SIM_ARG_CONSTANT:
        return "__constant ";
    case SIM_ARG_LOCAL:
        return "__local ";
    default:
        return "";
    }
}

/* The type as the rewritten text has it. */
static void put_type(str *o, const char *type, bool promote)
{
    size_t n = opencl_name_length(type);

    str_printf(o, "%s%s",
               is_vector(type, n) || (promote && is_half(type, n)) ? "__vpu_"
                                                                   : "",
               type);
}

static void put_call(str *o, const char *prefix, const sim_kernel *k)
{
    str_printf(o, "    %s%s(", prefix, k->name);
    for (uint32_t i = 0; i < k->n_args; i++)
        str_printf(o, "%s%s", i ? ", " : "", k->args[i].name);
    str_puts(o, ");\n");
}

/* A phase of the source, not one made of copies in the kernel. */
static bool has_function(const sim_kernel *k, sim_variant_kind phase)
{
    return k->variants[phase].present && !k->hoisted;
}

/* One function that is the work-group: const is left out, as the three may
 * differ in it. */
static void put_group_function(str *o, const sim_kernel *k, bool promote)
{
    str_puts(o, "\n# 1 \"<vpusim>/group.cl\"\n__kernel ");
    if (k->reqd_local[0])
        str_printf(o, "__attribute__((reqd_work_group_size(%u, %u, %u))) ",
                   k->reqd_local[0], k->reqd_local[1], k->reqd_local[2]);
    str_printf(o, "void __vpu_group_%s(", k->name);
    for (uint32_t i = 0; i < k->n_args; i++) {
        str_printf(o, "%s%s", i ? ", " : "", space_of(&k->args[i]));
        put_type(o, k->args[i].type, promote);
        str_printf(o, " %s", k->args[i].name);
    }
    str_puts(o, ")\n{\n");
    if (has_function(k, SIM_PRELOAD)) {
        put_call(o, "__dma_preload_", k);
        str_puts(o, "    __vpu_all;\n");
    }
    put_call(o, "", k);
    if (has_function(k, SIM_POSTWRITE)) {
        str_puts(o, "    __vpu_all;\n");
        put_call(o, "__dma_postwrite_", k);
    }
    str_puts(o, "}\n");
}

void opencl_text_program(const opencl_text *t, const sim_kernel *k,
                         bool promote, arena *a, const char **program,
                         const char **entry)
{
    str o = {0};

    if (promote)
        str_puts(&o, "#define __VPU_PROMOTE 1\n");
    if (t->min_max)
        str_puts(&o, "#define __VPU_MIN_MAX 1\n");
    if (t->copies)
        str_puts(&o, "#define __VPU_COPIES 1\n");
    str_puts(&o, "# 1 \"<vpusim>/opencl_prelude.cl\"\n");
    str_puts(&o, vpu_opencl_prelude_start);
    str_puts(&o, "\n");
    str_add(&o, t->body.data, t->body.n);
    *entry = k->name;
    if (has_function(k, SIM_PRELOAD) || has_function(k, SIM_POSTWRITE)) {
        put_group_function(&o, k, promote);
        *entry = arena_printf(a, "__vpu_group_%s", k->name);
    }
    *program = arena_strdup(a, str_text(&o));
    str_free(&o);
}
