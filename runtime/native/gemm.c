/* Products of matrices. The fastest dim is a row's, the next one a column's;
 * matrices along further dims each alone, those of a size of 1 for all. */
#include "runtime/native/native_priv.h"

typedef struct {
    float alpha, beta;
    bool has_third;
    uint32_t rows, columns, between; /* of the result; of both factors */
    uint64_t row_a, step_a, step_b, column_b; /* strides, elements */
    uint64_t n;                               /* matrices */
} gemm;

static uint32_t dim_of(const native_tensor *t, uint32_t d)
{
    return d < t->rank ? t->dims[d] : 1;
}

static void check_batches(native_maker *m, uint32_t i, uint32_t out)
{
    const native_tensor *t = native_at(m, i), *to = native_at(m, out);

    for (uint32_t d = 2; d < BLOB_MAX_DIMS && !m->st; d++)
        if (dim_of(t, d) != 1 && dim_of(t, d) != dim_of(to, d))
            native_bad(m, "dim %u of %s is %u, expected 1 or %u", d,
                       t->operand.name, dim_of(t, d), dim_of(to, d));
}

void native_make_gemm(native_maker *m)
{
    gemm *s = arena_new(m->arena, gemm);
    const native_tensor *a = native_at(m, 0), *b = native_at(m, 1), *out;
    bool turns_a, turns_b;

    m->op->state = s;
    native_need_halves(m);
    s->alpha = native_f32(m, "alpha");
    s->beta = native_f32(m, "beta");
    s->has_third = native_i32(m, "whether there is a third", 0, 1);
    turns_a = native_i32(m, "transA", 0, 1);
    turns_b = native_i32(m, "transB", 0, 1);
    if (m->op->n_tensors != (s->has_third ? 4 : 3))
        native_bad(m, "%u buffers, expected %u", m->op->n_tensors,
                   s->has_third ? 4 : 3);
    if (m->st)
        return;
    out = native_at(m, m->op->n_tensors - 1);
    s->columns = dim_of(out, 0);
    s->rows = dim_of(out, 1);
    s->between = dim_of(a, turns_a);
    s->row_a = turns_a ? 1 : s->between;
    s->step_a = turns_a ? s->rows : 1;
    s->step_b = turns_b ? 1 : s->columns;
    s->column_b = turns_b ? s->between : 1;
    s->n = out->n / s->columns / s->rows;
    if (dim_of(a, !turns_a) != s->rows || dim_of(b, turns_b) != s->columns ||
        dim_of(b, !turns_b) != s->between)
        native_bad(m, "%u by %u and %u by %u for %u by %u", dim_of(a, 0),
                   dim_of(a, 1), dim_of(b, 0), dim_of(b, 1), s->columns,
                   s->rows);
    for (uint32_t i = 0; i + 1 < m->op->n_tensors; i++)
        check_batches(m, i, m->op->n_tensors - 1);
    for (uint32_t d = 0; d < 2 && s->has_third; d++)
        if (dim_of(native_at(m, 2), d) != 1 &&
            dim_of(native_at(m, 2), d) != dim_of(out, d))
            native_bad(m, "dim %u of in2 is %u, expected 1 or %u", d,
                       dim_of(native_at(m, 2), d), dim_of(out, d));
}

double native_gemm_products(const native_op *op)
{
    const gemm *s = op->state;

    return (double)s->n * s->rows * s->columns * s->between;
}

typedef struct {
    const gemm *s;
    const native_tensor *ta, *tb, *tc, *to;
    const float *a, *b, *c;
    float *out;
} job;

/* First element of the matrix of t for matrix k of the result. */
static uint64_t matrix_of(const native_tensor *t, const native_tensor *to,
                          uint64_t k)
{
    uint64_t at = 0, step = (uint64_t)dim_of(t, 0) * dim_of(t, 1);

    for (uint32_t d = 2; d < to->rank; k /= to->dims[d++]) {
        at += dim_of(t, d) == 1 ? 0 : k % to->dims[d] * step;
        step *= dim_of(t, d);
    }
    return at;
}

static float third(const job *g, uint64_t k, uint32_t row, uint32_t column)
{
    uint32_t w = dim_of(g->tc, 0), h = dim_of(g->tc, 1);

    return g->c[matrix_of(g->tc, g->to, k) + (h == 1 ? 0 : row) * (uint64_t)w +
                (w == 1 ? 0 : column)];
}

/* Rows of the result. */
static void run_rows(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const gemm *s = g->s;

    for (uint64_t r = first; r < end; r++) {
        uint64_t k = r / s->rows;
        uint32_t row = (uint32_t)(r % s->rows);
        const float *a = g->a + matrix_of(g->ta, g->to, k) + row * s->row_a;
        const float *b = g->b + matrix_of(g->tb, g->to, k);
        float *out = g->out + r * s->columns;

        for (uint32_t i = 0; i < s->between; i++) {
            float v = a[i * s->step_a];

            for (uint32_t x = 0; x < s->columns; x++)
                out[x] += v * b[i * s->step_b + x * s->column_b];
        }
        for (uint32_t x = 0; x < s->columns; x++) {
            out[x] *= s->alpha;
            if (g->c)
                out[x] += s->beta * third(g, k, row, x);
        }
    }
}

void native_run_gemm(const native_job *j)
{
    const gemm *s = j->op->state;
    uint32_t last = j->op->n_tensors - 1;
    job g = {.s = s,
             .ta = native_of(j, 0),
             .tb = native_of(j, 1),
             .tc = native_of(j, 2),
             .to = native_of(j, last),
             .a = native_load(j, 0),
             .b = native_load(j, 1),
             .c = s->has_third ? native_load(j, 2) : NULL,
             .out = native_room(j, native_of(j, last)->n)};
    uint64_t cost = (uint64_t)s->columns * s->between;

    native_ranges(j, s->n * s->rows, 65536 / cost + 1, run_rows, &g);
    native_store(j, last, g.out);
}
