/* Profiles as a table, as JSON, as folded stacks. */
#include "runtime/report/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MAX_SOURCE = 16 << 20, MAX_TEXT = 64, MAX_CELL = 32 };

/* --- source lines -------------------------------------------------------- */

typedef struct {
    arena *a;
    const char *text; /* NULL: cannot be read any more */
    const char *name; /* without folders */
} source;

static source open_source(const report_profile_stage *s)
{
    source src = {.a = arena_create(0), .text = s->text};
    size_t n;
    char *data;

    src.name = file_basename(s->path);
    if (!src.text && !file_read(s->path, MAX_SOURCE, src.a, &data, &n, NULL))
        src.text = data;
    return src;
}

static report_profile_stage stage_of(const report_source *r, uint32_t i)
{
    const backend_launch *s = backend_launch_of(r->run, i);

    return (report_profile_stage){.name = r->graph->launches[i].name,
                                  .kernel = s->kernel->name,
                                  .variant = sim_variant_name(s->exec.variant),
                                  .path = s->kernel->source,
                                  .text = r->graph->launches[i].text,
                                  .n_shaves = s->n_shaves,
                                  .shave_cycles =
                                      s->exec.profile.cycles * s->n_shaves,
                                  .rows = &s->profile};
}

/* The line without blanks around it, of one kind inside, not too long; in the
 * arena. "" when there is none. */
static const char *source_line(const source *s, uint32_t line)
{
    const char *at = s->text, *end;
    size_t n;
    char *copy;

    for (; at && line > 1; line--) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at || !line)
        return "";
    at += strspn(at, " \t");
    end = at + strcspn(at, "\r\n");
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    n = (size_t)(end - at);
    if (n > MAX_TEXT)
        for (n = MAX_TEXT; n && ((unsigned char)at[n] & 0xc0) == 0x80;)
            n--;
    copy = arena_strndup(s->a, at, n);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            *c = ' ';
    return copy;
}

/* --- rows ---------------------------------------------------------------- */

static const char *phase_name(unsigned p)
{
    static const char *const names[] = {"preload", "compute", "postwrite",
                                        "end"};

    return names[p <= MACH_N_PHASES ? p : MACH_N_PHASES];
}

static const char *place_name(exec_place p)
{
    static const char *const names[] = {"line", "dispatch", "DMA wait", "flush",
                                        "idle"};

    return names[p];
}

/* "grn.cl:17", "(dispatch)", "(DMA wait before compute)" */
static const char *where(const exec_profile_row *r, const source *s)
{
    switch (r->place) {
    case EXEC_AT_LINE:
        return r->line ? arena_printf(s->a, "%s:%u", s->name, r->line)
                       : "(no line)";
    case EXEC_AT_PHASE_WAIT:
        return r->phase == MACH_N_PHASES
                   ? "(DMA wait at the end)"
                   : arena_printf(s->a, "(DMA wait before %s)",
                                  phase_name(r->phase));
    case EXEC_AT_FLUSH:
        return "(caches written back)";
    default:
        return arena_printf(s->a, "(%s)", place_name(r->place));
    }
}

static uint64_t total(const exec_profile_row *r)
{
    uint64_t n = 0;

    for (int c = 0; c < MACH_N_CAUSES; c++)
        n += r->cycles[c];
    return n;
}

/* Most cycles first; of equals the order they have. */
static int by_cycles(const void *a, const void *b)
{
    const exec_profile_row *const *x = a, *const *y = b;
    uint64_t nx = total(*x), ny = total(*y);

    if (nx != ny)
        return nx > ny ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static const exec_profile_row **sorted(const exec_profile *p, arena *a)
{
    const exec_profile_row **list =
        arena_array(a, const exec_profile_row *, p->n + 1);

    for (uint32_t k = 0; k < p->n; k++)
        list[k] = &p->rows[k];
    qsort(list, p->n, sizeof *list, by_cycles);
    return list;
}

static void add_row(exec_profile_row *to, const exec_profile_row *from)
{
    for (int c = 0; c < MACH_N_CAUSES; c++)
        to->cycles[c] += from->cycles[c];
    to->load_bytes += from->load_bytes;
    to->store_bytes += from->store_bytes;
}

/* --- table --------------------------------------------------------------- */

static void cell(str *out, int width, uint64_t n)
{
    if (n)
        str_printf(out, " %*llu", width, (unsigned long long)n);
    else
        str_printf(out, " %*s", width, "-");
}

static void table_row(str *out, const exec_profile_row *r, uint64_t all,
                      const char *name, const char *text)
{
    uint64_t n = total(r);

    cell(out, 13, n);
    str_printf(out, " %5.1f", 100 * (double)n / (double)(all ? all : 1));
    cell(out, 11, r->cycles[MACH_CAUSE_ISSUE]);
    cell(out, 10, r->cycles[MACH_CAUSE_L2]);
    cell(out, 11, r->cycles[MACH_CAUSE_DDR]);
    cell(out, 10, r->cycles[MACH_CAUSE_STORE]);
    cell(out, 9, r->cycles[MACH_CAUSE_DMA_SETUP]);
    cell(out, 10, r->cycles[MACH_CAUSE_DMA_WAIT]);
    cell(out, 11, r->load_bytes);
    cell(out, 11, r->store_bytes);
    cell(out, 10, r->executions);
    str_printf(out, "  %s%s%s\n", name, *text ? "  " : "", text);
}

static const char *remark(const exec_profile_row *r, const source *s)
{
    if (r->place != EXEC_AT_LINE)
        return "";
    return r->line ? source_line(s, r->line)
                   : arena_printf(s->a, "in %s", phase_name(r->phase));
}

void report_profile_table(const report_profile_stage *s, uint32_t most,
                          str *out)
{
    uint64_t all = s->shave_cycles;
    source src = open_source(s);
    const exec_profile_row **rows = sorted(s->rows, src.a);
    exec_profile_row rest = {0}, sum = {0};
    uint32_t lines = 0;

    str_printf(out,
               "profile of %s: kernel %s, %s, cycles of %u SHAVEs together\n",
               s->name, s->kernel, s->variant, s->n_shaves);
    str_printf(out, " %13s %5s %11s %10s %11s %10s %9s %10s %11s %11s %10s\n",
               "cycles", "%", "issue", "L2", "DDR", "store", "DMA setup",
               "DMA wait", "loaded B", "stored B", "executed");
    for (uint32_t k = 0; k < s->rows->n; k++) {
        const exec_profile_row *row = rows[k];
        bool line = row->place == EXEC_AT_LINE && row->line;

        add_row(&sum, row);
        if (line && lines++ >= most)
            add_row(&rest, row);
        else
            table_row(out, row, all, where(row, &src), remark(row, &src));
    }
    if (lines > most)
        table_row(out, &rest, all,
                  arena_printf(src.a, "(%u more lines)", lines - most), "");
    table_row(out, &sum, all, "(all)", "");
    arena_destroy(src.a);
}

void report_profile_text(const report_source *r, uint32_t most, str *out)
{
    for (uint32_t i = 0; i < r->graph->n_launches; i++)
        if (backend_launch_of(r->run, i)->profile.n) {
            const report_profile_stage s = stage_of(r, i);

            report_profile_table(&s, most, out);
        }
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *u64(uint64_t v)
{
    return json_integer((json_int_t)v);
}

/* null for what is not UTF-8. */
static json_t *text(const char *s)
{
    json_t *t = json_string(s);

    return t ? t : json_null();
}

static json_t *row_json(const exec_profile_row *r, const source *s)
{
    json_t *o = json_object(), *causes = json_object();

    json_object_set_new(o, "place", text(place_name(r->place)));
    if (r->place == EXEC_AT_LINE || r->place == EXEC_AT_PHASE_WAIT)
        json_object_set_new(o, "phase", text(phase_name(r->phase)));
    if (r->place == EXEC_AT_LINE) {
        json_object_set_new(o, "file", text(s->name));
        json_object_set_new(o, "line", u64(r->line));
        json_object_set_new(o, "text", text(source_line(s, r->line)));
        json_object_set_new(o, "executions", u64(r->executions));
        json_object_set_new(o, "load_bytes", u64(r->load_bytes));
        json_object_set_new(o, "store_bytes", u64(r->store_bytes));
        json_object_set_new(o, "dma_bytes", u64(r->dma_bytes));
    }
    json_object_set_new(o, "cycles", u64(total(r)));
    for (int c = 0; c < MACH_N_CAUSES; c++)
        if (r->cycles[c])
            json_object_set_new(causes, mach_cause_name((mach_cause)c),
                                u64(r->cycles[c]));
    json_object_set_new(o, "cycles_by_cause", causes);
    return o;
}

json_t *report_profile_rows(const report_profile_stage *s)
{
    source src = open_source(s);
    const exec_profile_row **rows = sorted(s->rows, src.a);
    json_t *list = json_array();

    for (uint32_t k = 0; k < s->rows->n; k++)
        json_array_append_new(list, row_json(rows[k], &src));
    arena_destroy(src.a);
    return list;
}

json_t *report_profile_json(const report_source *r, uint32_t stage)
{
    report_profile_stage s;

    if (!backend_launch_of(r->run, stage)->profile.n)
        return NULL;
    s = stage_of(r, stage);
    return report_profile_rows(&s);
}

/* --- folded stacks ------------------------------------------------------- */

typedef struct {
    const char *stack;
    uint64_t cycles;
} folded;

static int by_stack(const void *a, const void *b)
{
    return strcmp(((const folded *)a)->stack, ((const folded *)b)->stack);
}

/* A frame's name ends at ; and a stack's at the end of the line. */
static char *frame(arena *a, const char *name)
{
    char *copy = arena_strdup(a, name);

    for (char *c = copy; *c; c++)
        if (*c == ';' || (unsigned char)*c < 32)
            *c = '_';
    return copy;
}

typedef struct {
    folded *items;
    size_t n, cap;
    arena *a;
} stacks;

static void fold_row(stacks *f, const backend_launch *s,
                     const exec_profile_row *r, const source *src)
{
    bool in_phase = r->place == EXEC_AT_LINE;
    const char *name = frame(f->a, where(r, src));

    for (int c = 0; c < MACH_N_CAUSES; c++) {
        folded *x;

        if (!r->cycles[c])
            continue;
        x = arena_append(f->a, f->items, f->n, f->cap);
        x->cycles = r->cycles[c];
        x->stack = arena_printf(
            f->a, "%s;%s;%s%s%s;%s", frame(f->a, s->kernel->name),
            sim_variant_name(s->exec.variant),
            in_phase ? phase_name(r->phase) : "", in_phase ? ";" : "", name,
            mach_cause_name((mach_cause)c));
    }
}

/* A stage without a kernel is one line. */
static void fold_native(stacks *f, const graph_launch *l,
                        const backend_launch *s)
{
    folded *x;

    if (!s->exec.profile.cycles)
        return;
    x = arena_append(f->a, f->items, f->n, f->cap);
    x->cycles = s->exec.profile.cycles;
    x->stack =
        arena_printf(f->a, "%s;%s", frame(f->a, l->type), frame(f->a, l->name));
}

void report_profile_folded(const report_source *r, str *out)
{
    stacks f = {.a = arena_create(0)};

    for (uint32_t i = 0; i < r->graph->n_launches; i++) {
        const backend_launch *s = backend_launch_of(r->run, i);
        report_profile_stage stage;
        source src;

        if (!s->kernel) {
            fold_native(&f, &r->graph->launches[i], s);
            continue;
        }
        stage = stage_of(r, i);
        src = open_source(&stage);
        for (uint32_t k = 0; k < s->profile.n; k++)
            fold_row(&f, s, &s->profile.rows[k], &src);
        arena_destroy(src.a);
    }
    if (f.n)
        qsort(f.items, f.n, sizeof *f.items, by_stack);
    for (size_t k = 0; k < f.n; k++) {
        uint64_t n = f.items[k].cycles;

        while (k + 1 < f.n && !by_stack(&f.items[k], &f.items[k + 1]))
            n += f.items[++k].cycles;
        str_printf(out, "%s %llu\n", f.items[k].stack, (unsigned long long)n);
    }
    arena_destroy(f.a);
}
