/* What values are like, as indices: the largest ones, those that are not 0; and
 * indices as values. */
#include <stdlib.h>
#include <string.h>

#include "runtime/native/native_priv.h"

/* --- TopK ---------------------------------------------------------------- */

enum { BY_NOTHING, BY_VALUE, BY_INDEX, K = 1, FIRST_OUT };

typedef struct {
    uint32_t axis;
    bool least, by_index, values, indices;
} topk;

void native_make_topk(native_maker *m)
{
    const native_tensor *in = native_at(m, 0);
    topk *s = arena_new(m->arena, topk);
    uint32_t n;

    m->op->state = s;
    native_need_type(m, 0, NATIVE_TYPE(BLOB_F16));
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    native_need_type(m, K, NATIVE_TYPE(BLOB_S32));
    native_need_elements(m, K, 1);
    s->axis = native_axis(m, "the axis", 0);
    s->least = native_i32(m, "the mode", 0, 1) == 1;
    s->by_index = native_i32(m, "the sort", BY_NOTHING, BY_INDEX) == BY_INDEX;
    s->values = native_flag(m, "valuesPresent");
    s->indices = native_flag(m, "indicesPresent");
    n = FIRST_OUT + s->values + s->indices;
    if (!m->st && m->op->n_tensors != n)
        native_bad(m, "%u buffers, expected %u", m->op->n_tensors, n);
    if (!m->st && s->values)
        native_need_type(m, FIRST_OUT, NATIVE_TYPE(BLOB_F16));
    if (!m->st && s->indices)
        native_need_type(m, n - 1, NATIVE_TYPE(BLOB_S32));
    for (uint32_t i = FIRST_OUT; i < n && !m->st; i++) {
        const native_tensor *out = native_at(m, i);

        native_need_rank(m, i, in->rank, in->rank);
        for (uint32_t d = 0; d < in->rank && !m->st; d++)
            if (d == s->axis
                    ? out->dims[d] > in->dims[d] ||
                          out->dims[d] != native_at(m, FIRST_OUT)->dims[d]
                    : out->dims[d] != in->dims[d])
                native_bad(m, "dim %u of the output is %u, of the input %u", d,
                           out->dims[d], in->dims[d]);
    }
}

typedef struct {
    int32_t key; /* in the order of the values, the first one least */
    uint32_t index;
} item;

static int by_key(const void *p, const void *q)
{
    const item *a = p, *b = q;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_place(const void *p, const void *q)
{
    const item *a = p, *b = q;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* Floats in order, those that are no number, too: behind all. */
static int32_t key_of(float v, bool least)
{
    int32_t bits;

    if (v != v)
        return INT32_MAX;
    v = v == 0 ? 0 : least ? v : -v;
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? bits ^ INT32_MAX : bits;
}

typedef struct {
    const topk *s;
    const float *in;
    float *values;
    int32_t *indices;
    item *items;       /* n for each line */
    uint64_t inner, n; /* of the input's dim */
    uint32_t room, k;  /* of the outputs' dim; how many are asked for */
} topk_job;

static void run_lines(void *arg, uint64_t first, uint64_t end)
{
    const topk_job *g = arg;

    for (uint64_t l = first; l < end; l++) {
        uint64_t outer = l / g->inner, x = l % g->inner;
        item *items = g->items + l * g->n;

        for (uint64_t i = 0; i < g->n; i++) {
            items[i].key =
                key_of(g->in[(outer * g->n + i) * g->inner + x], g->s->least);
            items[i].index = (uint32_t)i;
        }
        qsort(items, g->n, sizeof *items, by_key);
        if (g->s->by_index)
            qsort(items, g->k, sizeof *items, by_place);
        for (uint64_t i = 0; i < g->k; i++) {
            uint64_t to = (outer * g->room + i) * g->inner + x;
            uint64_t from = outer * g->n + items[i].index;

            if (g->values)
                g->values[to] = g->in[from * g->inner + x];
            if (g->indices)
                g->indices[to] = (int32_t)items[i].index;
        }
    }
}

void native_run_topk(const native_job *j)
{
    const topk *s = j->op->state;
    const native_tensor *in = native_of(j, 0), *out = native_of(j, FIRST_OUT);
    int32_t k = native_load_int(j, K)[0];
    topk_job g = {.s = s,
                  .in = native_load(j, 0),
                  .items = arena_array(j->arena, item, in->n),
                  .inner = native_inner(in, s->axis),
                  .n = in->dims[s->axis],
                  .room = out->dims[s->axis]};

    g.k = k < 0 ? 0 : (uint32_t)k < g.room ? (uint32_t)k : g.room;
    if (s->values)
        g.values = native_room(j, out->n);
    if (s->indices)
        g.indices = (int32_t *)(void *)native_room(j, out->n);
    native_ranges(j, in->n / g.n, 4096 / g.n + 1, run_lines, &g);
    if (s->values)
        native_store(j, FIRST_OUT, g.values);
    if (s->indices)
        native_store_int(j, j->op->n_tensors - 1, g.indices);
}

/* --- OneHot -------------------------------------------------------------- */

typedef struct {
    uint32_t axis, depth;
    float on, off;
} one_hot;

void native_make_one_hot(native_maker *m)
{
    one_hot *s = arena_new(m->arena, one_hot);

    m->op->state = s;
    native_need_type(m, 0, NATIVE_TYPE(BLOB_S32) | NATIVE_TYPE(BLOB_F16));
    native_need_rank(m, 1, 1, BLOB_MAX_DIMS);
    s->axis = native_axis(m, "the axis", 1);
    s->depth = native_u32(m, "the depth", 1, UINT32_MAX);
    s->on = native_f32(m, "the value of ones");
    s->off = native_f32(m, "the value of zeros");
    if (m->st)
        return;
    if (native_at(m, 1)->dims[s->axis] != s->depth)
        native_bad(m, "dim %u of the output is %u, expected %u", s->axis,
                   native_at(m, 1)->dims[s->axis], s->depth);
    native_need_elements(m, 1, native_at(m, 0)->n * s->depth);
}

void native_run_one_hot(const native_job *j)
{
    const one_hot *s = j->op->state;
    const native_tensor *out = native_of(j, 1);
    uint64_t inner = native_inner(out, s->axis);
    const int32_t *in = native_load_int(j, 0);
    float *v = native_room(j, out->n);

    for (uint64_t k = 0; k < out->n; k++) {
        uint64_t at = k / inner / s->depth * inner + k % inner;

        v[k] = in[at] == (int64_t)(k / inner % s->depth) ? s->on : s->off;
    }
    native_store(j, 1, v);
}

/* --- NonZero ------------------------------------------------------------- */

/* Dims of the result are an output: {dims of the input, found}. */
void native_make_non_zero(native_maker *m)
{
    native_need_type(m, 1, NATIVE_TYPE(BLOB_S32));
    native_need_type(m, 2, NATIVE_TYPE(BLOB_S32));
    native_need_plain(m, 0);
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    native_need_elements(m, 1, native_at(m, 0)->n * native_at(m, 0)->rank);
    native_need_elements(m, 2, 2);
}

void native_run_non_zero(const native_job *j)
{
    const native_tensor *in = native_of(j, 0), *out = native_of(j, 1);
    const float *v = native_load(j, 0);
    int32_t *at = (int32_t *)(void *)native_room(j, out->n), dims[2] = {0},
            n = 0;

    for (uint64_t k = 0; k < in->n; k++) {
        uint64_t rest = k;

        if (v[k] == 0)
            continue;
        for (uint32_t d = 0; d < in->rank; rest /= in->dims[d++])
            at[(in->rank - 1 - d) * in->n + (uint64_t)n] =
                (int32_t)(rest % in->dims[d]);
        n++;
    }
    dims[0] = (int32_t)in->rank; /* in the IR's order: hosts read them so [B] */
    dims[1] = n;
    native_store_int(j, 1, at);
    native_store_int(j, 2, dims);
}

/* --- OutShapeOfReshape --------------------------------------------------- */

void native_make_shape(native_maker *m)
{
    bool *special = arena_new(m->arena, bool);

    m->op->state = special;
    *special = native_i32(m, "specialZero", 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        native_need_type(m, i, NATIVE_TYPE(BLOB_S32));
    native_need_elements(m, 2, native_at(m, 1)->n);
}

/* One dim may be -1: what is left of the elements. A 0 takes the input's. */
void native_run_shape(const native_job *j)
{
    bool special = *(const bool *)j->op->state;
    const int32_t *shape = native_load_int(j, 0), *asks = native_load_int(j, 1);
    uint64_t n_in = native_of(j, 0)->n, n = native_of(j, 1)->n;
    int32_t *out = (int32_t *)(void *)native_room(j, n);
    uint64_t elements = 1, named = 1;

    for (uint64_t i = 0; i < n_in; i++)
        elements *= (uint64_t)(uint32_t)shape[i];
    for (uint64_t i = 0; i < n; i++) {
        out[i] = asks[i] == 0 && special && i < n_in ? shape[i] : asks[i];
        named *= out[i] == -1 ? 1 : (uint64_t)(uint32_t)out[i];
    }
    for (uint64_t i = 0; i < n; i++)
        if (out[i] == -1)
            out[i] = (int32_t)(uint32_t)(named ? elements / named : 0);
    native_store_int(j, 2, out);
}
