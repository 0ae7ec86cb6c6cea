/* Elements by indices that are data: gathered from places, or put there. An
 * index outside gathers 0 and puts nothing. */
#include "runtime/native/native_priv.h"

enum { SCATTER_ELEMENTS = 126, INDICES = 2, UPDATES = 3, AXIS = 4 };

static const uint32_t integers = NATIVE_TYPE(BLOB_S32) | NATIVE_TYPE(BLOB_F16);

/* A dim counted from the major side, as models do. */
static uint32_t from_major(const native_tensor *t, uint32_t axis)
{
    return t->rank - 1 - axis;
}

static void need_one_type(native_maker *m, uint32_t i, uint32_t k)
{
    native_need_type(m, k, NATIVE_TYPE(native_at(m, i)->type));
}

/* --- Gather -------------------------------------------------------------- */

typedef struct {
    uint32_t axis;
} gather;

void native_make_gather(native_maker *m)
{
    const native_tensor *data = native_at(m, 0);
    gather *s = arena_new(m->arena, gather);

    m->op->state = s;
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    need_one_type(m, 0, 1);
    native_need_type(m, INDICES, integers);
    s->axis = native_axis(m, "the axis", 0);
    if (!m->st)
        native_need_elements(
            m, 1, data->n / data->dims[s->axis] * native_at(m, INDICES)->n);
}

void native_run_gather(const native_job *j)
{
    const native_tensor *data = native_of(j, 0), *out = native_of(j, 1);
    uint32_t axis = ((const gather *)j->op->state)->axis;
    uint64_t inner = native_inner(data, axis), n = data->dims[axis];
    uint64_t n_indices = native_of(j, INDICES)->n;
    const uint32_t *from = native_load_cells(j, 0);
    const int32_t *indices = native_load_int(j, INDICES);
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);

    for (uint64_t k = 0; k < out->n / inner; k++) {
        int64_t i = indices[k % n_indices];
        uint64_t at = (k / n_indices * n + (uint64_t)i) * inner;

        for (uint64_t x = 0; i >= 0 && (uint64_t)i < n && x < inner; x++)
            to[k * inner + x] = from[at + x];
    }
    native_store_cells(j, 1, to);
}

/* --- GatherND ------------------------------------------------------------ */

typedef struct {
    uint64_t inner, per_batch, data_batch; /* elements; rows of indices */
    uint32_t depth, first; /* numbers of an index; of the memory's dims that of
                              the last */
} gather_nd;

void native_make_gather_nd(native_maker *m)
{
    const native_tensor *data = native_at(m, 0), *at = native_at(m, INDICES);
    gather_nd *s = arena_new(m->arena, gather_nd);
    uint32_t batch = (uint32_t)native_i32(m, "batch_dims", 0, BLOB_MAX_DIMS);
    uint64_t batches = 1;

    m->op->state = s;
    need_one_type(m, 0, 1);
    native_need_type(m, INDICES, integers);
    native_need_rank(m, INDICES, 1, BLOB_MAX_DIMS);
    for (uint32_t i = 0; i < 3; i++)
        native_need_plain(m, i);
    if (m->st)
        return;
    s->depth = at->dims[0];
    if (s->depth + (uint64_t)batch > data->rank || batch + 1 > at->rank) {
        native_bad(m, "indices of %u numbers behind %u dims, the data has %u",
                   s->depth, batch, data->rank);
        return;
    }
    for (uint32_t d = 0; d < batch; d++) {
        uint32_t n = data->dims[from_major(data, d)];

        if (at->dims[from_major(at, d)] != n)
            native_bad(m, "dim %u of the indices is %u, of the data %u", d,
                       at->dims[from_major(at, d)], n);
        batches *= n;
    }
    s->first = data->rank - batch - s->depth;
    s->inner = native_inner(data, s->first);
    s->data_batch = data->n / batches;
    s->per_batch = at->n / s->depth / batches;
    native_need_elements(m, 1, at->n / s->depth * s->inner);
}

/* First element of what an index names; false: it is outside. */
static bool locate(const gather_nd *s, const native_tensor *data,
                   const int32_t *index, uint64_t *at)
{
    uint64_t step = s->inner;

    *at = 0;
    for (uint32_t k = 0; k < s->depth; k++) {
        int32_t i = index[s->depth - 1 - k];

        if (i < 0 || (uint32_t)i >= data->dims[s->first + k])
            return false;
        *at += (uint64_t)i * step;
        step *= data->dims[s->first + k];
    }
    return true;
}

void native_run_gather_nd(const native_job *j)
{
    const gather_nd *s = j->op->state;
    const native_tensor *data = native_of(j, 0), *out = native_of(j, 1);
    const uint32_t *from = native_load_cells(j, 0);
    const int32_t *indices = native_load_int(j, INDICES);
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);

    for (uint64_t k = 0; k < out->n / s->inner; k++) {
        uint64_t at;

        if (!locate(s, data, indices + k * s->depth, &at))
            continue;
        at += k / s->per_batch * s->data_batch;
        for (uint64_t x = 0; x < s->inner; x++)
            to[k * s->inner + x] = from[at + x];
    }
    native_store_cells(j, 1, to);
}

/* --- elements, each with an index along one dim -------------------------- */

typedef struct {
    uint32_t axis; /* of the memory */
} elements;

/* The indices' dims fit into the data's, but for the one that they index. */
static void check_within(native_maker *m, uint32_t axis)
{
    const native_tensor *data = native_at(m, 0), *at = native_at(m, INDICES);

    native_need_rank(m, INDICES, data->rank, data->rank);
    for (uint32_t d = 0; d < data->rank && !m->st; d++)
        if (d != axis && at->dims[d] > data->dims[d])
            native_bad(m, "dim %u of the indices is %u, of the data %u", d,
                       at->dims[d], data->dims[d]);
}

static void check_dims(native_maker *m, uint32_t i, uint32_t k)
{
    const native_tensor *p = native_at(m, i), *q = native_at(m, k);

    native_need_rank(m, i, q->rank, q->rank);
    for (uint32_t d = 0; d < p->rank && !m->st; d++)
        if (p->dims[d] != q->dims[d])
            native_bad(m, "dim %u is %u in %s and %u in %s", d, p->dims[d],
                       p->operand.name, q->dims[d], q->operand.name);
}

/* Where in the data the element k of the indices leads; false: outside. */
static bool place_of(const native_tensor *data, const native_tensor *indices,
                     uint32_t axis, uint64_t k, int32_t index, uint64_t *at)
{
    uint64_t step = 1;

    *at = 0;
    if (index < 0 || (uint32_t)index >= data->dims[axis])
        return false;
    for (uint32_t d = 0; d < data->rank; k /= indices->dims[d++]) {
        uint64_t i = k % indices->dims[d];

        *at += (d == axis ? (uint64_t)index : i) * step;
        step *= data->dims[d];
    }
    return true;
}

void native_make_gather_elements(native_maker *m)
{
    const native_tensor *data = native_at(m, 0);
    elements *s = arena_new(m->arena, elements);
    uint32_t axis = native_axis(m, "the axis", 0);

    m->op->state = s;
    if (native_i32(m, "rowIndices", 0, 1))
        native_refuse(m, "indices of rows");
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    need_one_type(m, 0, 1);
    native_need_type(m, INDICES, integers);
    for (uint32_t i = 0; i < 3; i++)
        native_need_plain(m, i);
    check_dims(m, 1, INDICES);
    if (m->st)
        return;
    s->axis = from_major(data, axis);
    check_within(m, s->axis);
}

void native_run_gather_elements(const native_job *j)
{
    const native_tensor *data = native_of(j, 0), *at = native_of(j, INDICES);
    const elements *s = j->op->state;
    const uint32_t *from = native_load_cells(j, 0);
    const int32_t *indices = native_load_int(j, INDICES);
    uint32_t *to = (uint32_t *)(void *)native_room(j, at->n);
    uint64_t place;

    for (uint64_t k = 0; k < at->n; k++)
        if (place_of(data, at, s->axis, k, indices[k], &place))
            to[k] = from[place];
    native_store_cells(j, 1, to);
}

/* --- scattering ---------------------------------------------------------- */

static void take_axis(native_maker *m, elements *s)
{
    const native_tensor *data = native_at(m, 0);
    const int32_t *v = native_constant(m, AXIS);
    int64_t axis;

    native_need_elements(m, AXIS, 1);
    if (m->st)
        return;
    axis = *v < 0 ? (int64_t)*v + data->rank : *v;
    if (axis < 0 || axis >= data->rank)
        native_bad(m, "axis %d of %u dims", *v, data->rank);
    else
        s->axis = from_major(data, (uint32_t)axis);
}

void native_make_scatter(native_maker *m)
{
    const native_tensor *data = native_at(m, 0);
    elements *s = arena_new(m->arena, elements);

    m->op->state = s;
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    need_one_type(m, 0, 1);
    need_one_type(m, 0, UPDATES);
    native_need_type(m, INDICES, integers);
    native_need_same(m, 0, 1);
    for (uint32_t i = 0; i < AXIS; i++)
        native_need_plain(m, i);
    take_axis(m, s);
    if (m->st)
        return;
    if (m->op->type == SCATTER_ELEMENTS) {
        check_dims(m, UPDATES, INDICES);
        check_within(m, s->axis);
    } else {
        native_need_elements(m, UPDATES,
                             data->n / data->dims[s->axis] *
                                 native_at(m, INDICES)->n);
    }
}

static void put_slices(const native_job *j, uint32_t axis,
                       const int32_t *indices, const uint32_t *from,
                       uint32_t *to)
{
    const native_tensor *data = native_of(j, 0);
    uint64_t inner = native_inner(data, axis), n = data->dims[axis];
    uint64_t n_indices = native_of(j, INDICES)->n;

    for (uint64_t k = 0; k < native_of(j, UPDATES)->n / inner; k++) {
        int64_t i = indices[k % n_indices];
        uint64_t at = (k / n_indices * n + (uint64_t)i) * inner;

        for (uint64_t x = 0; i >= 0 && (uint64_t)i < n && x < inner; x++)
            to[at + x] = from[k * inner + x];
    }
}

void native_run_scatter(const native_job *j)
{
    const native_tensor *data = native_of(j, 0), *at = native_of(j, INDICES);
    const elements *s = j->op->state;
    uint32_t *to = native_load_cells(j, 0);
    const int32_t *indices = native_load_int(j, INDICES);
    const uint32_t *from = native_load_cells(j, UPDATES);
    uint64_t place;

    if (j->op->type != SCATTER_ELEMENTS)
        put_slices(j, s->axis, indices, from, to);
    /* In memory's order: the last one stays. */
    for (uint64_t k = 0; j->op->type == SCATTER_ELEMENTS && k < at->n; k++)
        if (place_of(data, at, s->axis, k, indices[k], &place))
            to[place] = from[k];
    native_store_cells(j, 1, to);
}
