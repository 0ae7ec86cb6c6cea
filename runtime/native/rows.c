/* Several tensors side by side, in pieces that fit into a processor's cache. */
#include <string.h>

#include "runtime/native/native_priv.h"

/* --- making -------------------------------------------------------------- */

/* Does dim d of all tensors lie right behind the last one of the rows? */
static bool joins(const native_rows *r, const uint64_t *steps)
{
    uint32_t last = r->rank - 1;

    for (uint32_t k = 0; k < r->n; k++)
        if (steps[k] != r->steps[k][last] * r->dims[last])
            return false;
    return true;
}

static void add_dim(native_rows *r, uint64_t n, const uint64_t *steps)
{
    if (r->rank && joins(r, steps)) {
        r->dims[r->rank - 1] *= n;
        return;
    }
    r->dims[r->rank] = n;
    for (uint32_t k = 0; k < r->n; k++)
        r->steps[k][r->rank] = steps[k];
    r->rank++;
}

void native_rows_make(native_maker *m, const uint32_t *places, uint32_t n,
                      native_rows *out)
{
    const native_tensor *to = native_at(m, places[0]);

    *out = (native_rows){.n = n, .total = to->n};
    for (uint32_t k = 1; k < n && !m->st; k++)
        if (native_at(m, places[k])->present &&
            native_at(m, places[k])->rank > to->rank)
            native_bad(m, "%s has %u dims, the output %u",
                       native_at(m, places[k])->operand.name,
                       native_at(m, places[k])->rank, to->rank);
    for (uint32_t d = 0; d < to->rank && !m->st; d++) {
        uint64_t steps[NATIVE_ROWS] = {0};

        for (uint32_t k = 0; k < n && !m->st; k++) {
            const native_tensor *t = native_at(m, places[k]);
            uint32_t size = t->present && d < t->rank ? t->dims[d] : 1;

            if (size != 1 && size != to->dims[d])
                native_bad(m, "dim %u of %s is %u, expected 1 or %u", d,
                           t->operand.name, size, to->dims[d]);
            steps[k] = size == 1 ? 0 : t->strides[d];
        }
        if (to->dims[d] > 1)
            add_dim(out, to->dims[d], steps);
    }
    if (!out->rank)
        add_dim(out, 1, (uint64_t[NATIVE_ROWS]){0});
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const native_rows *r;
    uint8_t *at[NATIVE_ROWS];
    uint64_t piece, pieces; /* of a row */
    native_piece *run;
    void *arg;
} job;

static void run_piece(const job *g, uint64_t row, uint64_t first)
{
    const native_rows *r = g->r;
    uint64_t left = r->dims[0] - first, steps[NATIVE_ROWS];
    uint8_t *at[NATIVE_ROWS];

    for (uint32_t k = 0; k < r->n; k++) {
        uint64_t rest = row;

        at[k] = g->at[k];
        steps[k] = r->steps[k][0];
        if (!at[k])
            continue;
        at[k] += first * steps[k];
        for (uint32_t d = 1; d < r->rank; rest /= r->dims[d++])
            at[k] += rest % r->dims[d] * r->steps[k][d];
    }
    g->run(g->arg, at, steps, left < g->piece ? left : g->piece);
}

static void run_pieces(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;

    for (uint64_t k = first; k < end; k++)
        run_piece(g, k / g->pieces, k % g->pieces * g->piece);
}

/* The same elements at the same places: each is read before it is written. */
static bool is_same(const native_rows *r, uint32_t k)
{
    for (uint32_t d = 0; d < r->rank; d++)
        if (r->steps[k][d] != r->steps[0][d])
            return false;
    return true;
}

static uint8_t *input(const native_job *j, const native_rows *r, uint32_t k,
                      uint32_t place, const uint8_t *to, uint64_t bytes)
{
    uint8_t *at = native_data(j, place);
    uint64_t n = native_of(j, place)->operand.span;

    if ((at == to && is_same(r, k)) || at >= to + bytes || to >= at + n)
        return at;
    return arena_memdup(j->arena, at, n);
}

void native_rows_run(const native_job *j, const native_rows *r,
                     const uint32_t *places, native_piece *piece, void *arg)
{
    uint8_t *to = native_data(j, places[0]);
    job g = {.r = r, .at = {to}, .run = piece, .arg = arg};

    for (uint32_t k = 1; k < r->n; k++)
        if (native_of(j, places[k])->present)
            g.at[k] = input(j, r, k, places[k], to,
                            native_of(j, places[0])->operand.span);
    g.piece = r->dims[0] < NATIVE_PIECE ? r->dims[0] : NATIVE_PIECE;
    g.pieces = (r->dims[0] + g.piece - 1) / g.piece;
    native_ranges(j, r->total / r->dims[0] * g.pieces, 32768 / g.piece,
                  run_pieces, &g);
}
