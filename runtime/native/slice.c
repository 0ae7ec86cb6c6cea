/* Elements in another arrangement: repeated, joined, cut, turned round. */
#include <inttypes.h>

#include "runtime/native/native_priv.h"

static void need_one_type(native_maker *m, uint32_t i, uint32_t k)
{
    native_need_type(m, k, NATIVE_TYPE(native_at(m, i)->type));
}

/* --- Tile ---------------------------------------------------------------- */

typedef struct {
    uint32_t axis, tiles;
} tile;

void native_make_tile(native_maker *m)
{
    const native_tensor *in = native_at(m, 0), *out = native_at(m, 1);
    tile *s = arena_new(m->arena, tile);

    m->op->state = s;
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    need_one_type(m, 0, 1);
    native_need_rank(m, 1, in->rank, in->rank);
    s->axis = native_axis(m, "the axis", 0);
    s->tiles = (uint32_t)native_i32(m, "tiles", 1, INT32_MAX);
    for (uint32_t d = 0; d < in->rank && !m->st; d++)
        if (out->dims[d] !=
            (uint64_t)in->dims[d] * (d == s->axis ? s->tiles : 1))
            native_bad(m, "dim %u of the output is %u, of the input %u", d,
                       out->dims[d], in->dims[d]);
}

void native_run_tile(const native_job *j)
{
    const tile *s = j->op->state;
    const native_tensor *in = native_of(j, 0), *out = native_of(j, 1);
    uint64_t block = native_inner(in, s->axis) * in->dims[s->axis];
    const uint32_t *from = native_load_cells(j, 0);
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);

    for (uint64_t k = 0; k < out->n; k++)
        to[k] = from[k / (block * s->tiles) * block + k % block];
    native_store_cells(j, 1, to);
}

/* --- Concat -------------------------------------------------------------- */

void native_make_concat(native_maker *m)
{
    uint32_t *axis = arena_new(m->arena, uint32_t), n = m->op->n_tensors - 1;
    const native_tensor *out = native_at(m, n);
    uint64_t sum = 0;

    m->op->state = axis;
    native_need_rank(m, n, 1, BLOB_MAX_DIMS);
    *axis = native_u32(m, "the axis", 0, out->rank ? out->rank - 1 : 0);
    native_u32(m, "inputs", n, n);
    for (uint32_t i = 0; i < n && !m->st; i++) {
        const native_tensor *in = native_at(m, i);

        need_one_type(m, n, i);
        native_need_rank(m, i, out->rank, out->rank);
        for (uint32_t d = 0; d < out->rank && !m->st; d++)
            if (d != *axis && in->dims[d] != out->dims[d])
                native_bad(m, "dim %u is %u in %s and %u in the output", d,
                           in->dims[d], in->operand.name, out->dims[d]);
        sum += m->st ? 0 : in->dims[*axis];
    }
    if (!m->st && sum != out->dims[*axis])
        native_bad(m, "dims of %" PRIu64 " for the output's %u", sum,
                   out->dims[*axis]);
}

void native_run_concat(const native_job *j)
{
    uint32_t axis = *(const uint32_t *)j->op->state;
    uint32_t last = j->op->n_tensors - 1;
    const native_tensor *out = native_of(j, last);
    uint64_t inner = native_inner(out, axis), at = 0;
    uint64_t row = inner * out->dims[axis];
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);

    for (uint32_t i = 0; i < last; i++) {
        uint64_t n = inner * native_of(j, i)->dims[axis];
        const uint32_t *from = native_load_cells(j, i);

        for (uint64_t k = 0; k < native_of(j, i)->n; k++)
            to[k / n * row + at + k % n] = from[k];
        at += n;
    }
    native_store_cells(j, last, to);
}

/* --- HwFcRelayout -------------------------------------------------------- */

void native_make_flat(native_maker *m)
{
    native_need_planes(m, 0);
    need_one_type(m, 0, 1);
    native_need_type(m, 0, NATIVE_TYPE(BLOB_F16));
    if (!m->st)
        native_need_elements(m, 1, native_at(m, 0)->n);
}

void native_run_flat(const native_job *j)
{
    native_store(j, 1, native_load_planes(j, 0));
}

/* --- StridedSlice -------------------------------------------------------- */

enum { BEGIN = 1, END, STEPS, SLICED };

typedef struct {
    uint32_t begins, ends, news, shrinks, ellipses; /* bits, major dim first */
} masks;

void native_make_slice(native_maker *m)
{
    masks *s = arena_new(m->arena, masks);
    uint64_t n = native_at(m, BEGIN)->n;

    m->op->state = s;
    need_one_type(m, 0, SLICED);
    native_need_plain(m, 0);
    native_need_plain(m, SLICED);
    for (uint32_t i = BEGIN; i <= STEPS; i++)
        if (i != STEPS || native_at(m, i)->present) {
            native_need_type(m, i, NATIVE_TYPE(BLOB_S32));
            native_need_elements(m, i, n);
        }
    if (n > 32)
        native_bad(m, "a slice of %" PRIu64 " dims", n);
    s->begins = native_u32(m, "the mask of begins", 0, UINT32_MAX);
    s->ends = native_u32(m, "the mask of ends", 0, UINT32_MAX);
    s->news = native_u32(m, "the mask of new dims", 0, UINT32_MAX);
    s->shrinks = native_u32(m, "the mask of dims that go", 0, UINT32_MAX);
    s->ellipses = native_u32(m, "the mask of ellipses", 0, UINT32_MAX);
}

/* Of a dim of the input. */
typedef struct {
    int64_t first, step;
    uint64_t n;
} cut;

typedef struct {
    const masks *s;
    const int32_t *begin, *end, *step;
    uint32_t n; /* entries */
} spec;

static int64_t within(int64_t i, int64_t n, int64_t least, int64_t most)
{
    i = i < 0 ? i + n : i;
    return i < least ? least : i > most ? most : i;
}

static cut cut_of(const spec *p, uint32_t i, int64_t n)
{
    int64_t step = p->step ? p->step[i] : 1, first, end;
    uint32_t bit = 1u << i;

    if (p->s->shrinks & bit)
        return (cut){within(p->begin[i], n, 0, n - 1), 1, 1};
    if (step == 0)
        return (cut){0, 1, 0};
    if (step > 0) {
        first = p->s->begins & bit ? within(p->begin[i], n, 0, n) : 0;
        end = p->s->ends & bit ? within(p->end[i], n, 0, n) : n;
        return (cut){first, step,
                     end > first ? (uint64_t)((end - first - 1) / step + 1)
                                 : 0};
    }
    first = p->s->begins & bit ? within(p->begin[i], n, -1, n - 1) : n - 1;
    end = p->s->ends & bit ? within(p->end[i], n, -1, n - 1) : -1;
    return (cut){first, step,
                 first > end ? (uint64_t)((first - end - 1) / -step + 1) : 0};
}

static uint32_t bits_of(uint32_t v, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += v >> i & 1;
    return count;
}

/* The cuts of all dims, major first; dims without an entry stay whole. */
static void take_cuts(const spec *p, const native_tensor *in, cut *cuts)
{
    uint32_t rank = in->rank, d = 0;
    uint32_t ellipsis = bits_of(p->s->ellipses, p->n);
    uint32_t news = bits_of(p->s->news & ~p->s->ellipses, p->n);
    uint32_t named = p->n - ellipsis - news;

    for (uint32_t i = 0; i < rank; i++)
        cuts[i] = (cut){0, 1, in->dims[rank - 1 - i]};
    for (uint32_t i = 0; i < p->n && d < rank; i++) {
        if (p->s->ellipses >> i & 1)
            d += rank > named ? rank - named : 0;
        else if (!(p->s->news >> i & 1) && d < rank) {
            cuts[d] = cut_of(p, i, in->dims[rank - 1 - d]);
            d++;
        }
    }
}

void native_run_slice(const native_job *j)
{
    const native_tensor *in = native_of(j, 0), *out = native_of(j, SLICED);
    spec p = {j->op->state, native_load_int(j, BEGIN), native_load_int(j, END),
              native_load_int(j, STEPS), (uint32_t)native_of(j, BEGIN)->n};
    const uint32_t *from = native_load_cells(j, 0);
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);
    cut cuts[BLOB_MAX_DIMS];
    uint64_t total = 1;

    take_cuts(&p, in, cuts);
    for (uint32_t d = 0; d < in->rank; d++)
        total *= cuts[d].n;
    /* The vectors may say something else than the output's dims. */
    for (uint64_t k = 0; k < out->n && k < total; k++) {
        uint64_t rest = k, at = 0, step = 1;

        for (uint32_t d = 0; d < in->rank; step *= in->dims[d++]) {
            const cut *c = &cuts[in->rank - 1 - d];

            at +=
                (uint64_t)(c->first + (int64_t)(rest % c->n) * c->step) * step;
            rest /= c->n;
        }
        to[k] = from[at];
    }
    native_store_cells(j, SLICED, to);
}

/* --- ReverseSequence ----------------------------------------------------- */

typedef struct {
    uint32_t axis, batch;
} reverse;

void native_make_reverse(native_maker *m)
{
    reverse *s = arena_new(m->arena, reverse);

    m->op->state = s;
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    need_one_type(m, 0, 2);
    native_need_same(m, 0, 2);
    native_need_type(m, 1, NATIVE_TYPE(BLOB_S32) | NATIVE_TYPE(BLOB_F16));
    s->axis = native_axis(m, "the sequence's axis", 0);
    s->batch = native_axis(m, "the batch's axis", 0);
    if (!m->st)
        native_need_elements(m, 1, native_at(m, 0)->dims[s->batch]);
}

void native_run_reverse(const native_job *j)
{
    const reverse *s = j->op->state;
    const native_tensor *t = native_of(j, 0);
    uint64_t inner = native_inner(t, s->axis), n = t->dims[s->axis];
    uint64_t of_batch = native_inner(t, s->batch);
    const int32_t *lengths = native_load_int(j, 1);
    const uint32_t *from = native_load_cells(j, 0);
    uint32_t *to = (uint32_t *)(void *)native_room(j, t->n);

    for (uint64_t k = 0; k < t->n; k++) {
        int32_t length = lengths[k / of_batch % t->dims[s->batch]];
        uint64_t i = k / inner % n;
        uint64_t turned = length < 0             ? 0
                          : (uint64_t)length < n ? (uint64_t)length
                                                 : n;

        to[k] = from[i < turned ? k - i * inner + (turned - 1 - i) * inner : k];
    }
    native_store_cells(j, 2, to);
}

/* --- Broadcast ----------------------------------------------------------- */

enum { NUMPY, EXPLICIT, BIDIRECTIONAL };

typedef struct {
    uint64_t strides[BLOB_MAX_DIMS]; /* in the input, by the output's dims */
} broadcast;

/* The output's dim, of the memory, for the input's. */
static uint32_t target_of(native_maker *m, uint32_t d, const int32_t *axes)
{
    const native_tensor *in = native_at(m, 0);
    const native_tensor *out = native_at(m, m->op->n_tensors - 1);
    int32_t axis;

    if (!axes)
        return d;
    axis = axes[in->rank - 1 - d];
    if (axis >= 0 && (uint32_t)axis < out->rank)
        return out->rank - 1 - (uint32_t)axis;
    native_bad(m, "axis %d of %u dims", axis, out->rank);
    return 0;
}

void native_make_broadcast(native_maker *m)
{
    uint32_t last = m->op->n_tensors - 1;
    const native_tensor *in = native_at(m, 0), *out = native_at(m, last);
    broadcast *s = arena_new(m->arena, broadcast);
    int32_t mode = native_i32(m, "the mode", NUMPY, BIDIRECTIONAL);
    const int32_t *axes = NULL;
    uint64_t step = 1;

    m->op->state = s;
    need_one_type(m, 0, last);
    native_need_plain(m, 0);
    native_need_plain(m, last);
    native_need_rank(m, 0, 0, out->rank);
    if (!m->st && last != (mode == EXPLICIT ? 3 : 2))
        native_bad(m, "%u buffers in mode %d", last + 1, mode);
    if (mode == EXPLICIT && !m->st) {
        axes = native_constant(m, 2);
        native_need_elements(m, 2, in->rank);
    }
    for (uint32_t d = 0; d < in->rank && !m->st; step *= in->dims[d++]) {
        uint32_t to = target_of(m, d, axes);

        if (!m->st && in->dims[d] != 1 && in->dims[d] != out->dims[to])
            native_bad(m, "dim %u is %u, of the output %u", d, in->dims[d],
                       out->dims[to]);
        s->strides[to] = in->dims[d] == 1 ? 0 : step;
    }
}

void native_run_broadcast(const native_job *j)
{
    const broadcast *s = j->op->state;
    uint32_t last = j->op->n_tensors - 1;
    const native_tensor *out = native_of(j, last);
    const uint32_t *from = native_load_cells(j, 0);
    uint32_t *to = (uint32_t *)(void *)native_room(j, out->n);

    for (uint64_t k = 0; k < out->n; k++) {
        uint64_t rest = k, at = 0;

        for (uint32_t d = 0; d < out->rank; rest /= out->dims[d++])
            at += rest % out->dims[d] * s->strides[d];
        to[k] = from[at];
    }
    native_store_cells(j, last, to);
}
