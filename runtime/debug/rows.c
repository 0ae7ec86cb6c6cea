/* The SHAVE program as rows, one a bundle, for programs that show it around the
 * bundle where it stands: a table that is made once for a launch. */
#include <string.h>

#include "isa/text.h"
#include "runtime/debug/session.h"

/* The first bundle's address leaves room for what clients ask for before it. */
enum { MAX_BUNDLE = 2048, FIRST = 1 << 20 };

typedef struct {
    uint32_t function, first, n; /* operations */
} bundle;

typedef struct dbg_rows {
    uint32_t launch;
    const isa_function *functions;
    const char *file;
    bundle *bundles;
    size_t n, cap;
} dbg_rows;

/* Operations of a block that issue in one cycle. */
static void add_block(dbg_session *s, dbg_rows *r, uint32_t function,
                      const isa_block *b)
{
    const isa_instr *in = r->functions[function].instrs + b->first;

    for (uint32_t k = 0, m; k < b->n_instrs; k += m) {
        for (m = 1; k + m < b->n_instrs && in[k + m].cycle == in[k].cycle;)
            m++;
        *arena_append(s->arena, r->bundles, r->n, r->cap) =
            (bundle){function, b->first + k, m};
    }
}

static const dbg_rows *rows_of(dbg_session *s)
{
    const backend_launch *l = backend_launch_of(&s->sim, s->pos.launch);
    const sim_kernel *k = l ? l->kernel : NULL;
    const isa_memory mem = {arena_bytes, s->arena};
    isa_function *fs = NULL;
    uint32_t n = 0;
    dbg_rows *r;

    if (s->rows && s->rows->launch == s->pos.launch)
        return s->rows;
    s->rows = r = arena_new(s->arena, dbg_rows);
    r->launch = s->pos.launch;
    if (!s->cfg->bundles || !k || !k->program ||
        isa_decode(k->program, k->program_bytes, &mem, &fs, &n))
        return r;
    r->functions = fs;
    r->file = k->source;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t b = 0; b < fs[f].n_blocks; b++)
            add_block(s, r, f, &fs[f].blocks[b]);
    return r;
}

bool dbg_rows_here(dbg_session *s, uint64_t *address)
{
    const dbg_rows *r = rows_of(s);
    uint32_t at = (uint32_t)(s->in - s->fn->instrs);

    for (size_t k = 0; k < r->n; k++) {
        const bundle *b = &r->bundles[k];

        /* The interpreter has a copy of its own. */
        if (at >= b->first && at < b->first + b->n &&
            !strcmp(r->functions[b->function].name, s->fn->name)) {
            *address = FIRST + k * DEBUG_BUNDLE_BYTES;
            return true;
        }
    }
    return false;
}

static void fill_row(const dbg_rows *r, size_t k, arena *a, debug_row *out)
{
    const bundle *b = &r->bundles[k];
    const isa_function *f = &r->functions[b->function];
    const isa_instr *in = f->instrs + b->first;
    str text = {.arena = a};
    char op[MAX_BUNDLE];

    for (uint32_t i = 0; i < b->n; i++) {
        isa_print_op(&in[i], op, sizeof op);
        str_printf(&text, "%s%s", i ? " || " : "", op);
        if (in[i].line && !out->line) {
            out->line = in[i].line;
            out->column = in[i].col;
            out->file = r->file;
        }
    }
    out->text = str_text(&text);
    if (!k || r->bundles[k - 1].function != b->function)
        out->symbol = f->name;
}

void debug_rows(debug_session *s, uint64_t address, int64_t offset, uint32_t n,
                arena *a, const debug_row **out)
{
    const dbg_rows *r = rows_of(s);
    debug_row *rows = arena_array(a, debug_row, (size_t)n + 1);
    int64_t first = (int64_t)(address - FIRST) / DEBUG_BUNDLE_BYTES;

    for (uint32_t k = 0; k < n; k++) {
        uint64_t at = (uint64_t)first + (uint64_t)offset + k;

        rows[k].address = FIRST + at * DEBUG_BUNDLE_BYTES;
        if (at < r->n)
            fill_row(r, (size_t)at, a, &rows[k]);
    }
    *out = rows;
}
