/* Hardware stages: what their operations are, checked. */
#include "runtime/native/hw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The largest the compiler writes is 15, and 16 beside 1 [S]. */
enum { MAX_KERNEL = 16, MAX_STRIDE = 16, MAX_PLANE = 4096 };
/* Below one weight in so many that is not 0 its channels are listed one by one.
 */
enum { SPARSE = 3 };

static uint32_t channels_of(const native_tensor *t)
{
    return native_size(t, NATIVE_C);
}

/* A planar tensor of halves, its rows at multiples of 16 bytes
 * (docs/networks.md, "Hardware operations"). */
static void need_planar(native_maker *m, int32_t i)
{
    const native_tensor *t = native_at(m, (uint32_t)i);

    native_need_type(m, (uint32_t)i, NATIVE_TYPE(BLOB_F16));
    native_need_rank(m, (uint32_t)i, 3, 4);
    if (m->st)
        return;
    if (t->order != 0x4321 && t->order != 0x321)
        native_bad(m, "%s is in order 0x%x, expected NCHW or CHW",
                   t->operand.name, t->order);
    if (t->rank == 4 && t->dims[3] != 1)
        native_refuse(m, "%s is a batch of %u", t->operand.name, t->dims[3]);
    if (t->strides[0] != 2)
        native_bad(m, "%s: stride of columns is %u, expected 2",
                   t->operand.name, t->strides[0]);
    if (t->dims[0] > MAX_PLANE || t->dims[1] > MAX_PLANE)
        native_refuse(m, "%s is %ux%u, the engine has planes of up to %dx%d",
                      t->operand.name, t->dims[0], t->dims[1], MAX_PLANE,
                      MAX_PLANE);
}

static void need_vector(native_maker *m, int32_t i, const hw_op *o)
{
    const native_tensor *t = native_at(m, (uint32_t)i);

    if (i < 0)
        return;
    native_need_type(m, (uint32_t)i, NATIVE_TYPE(BLOB_F16));
    if (!m->st && (t->operand.span != 2 * t->n ||
                   t->n < (uint64_t)o->channel + o->n_channels))
        native_bad(m,
                   "%s has %" PRIu64 " elements, expected one for each of %u "
                   "output channels, without gaps",
                   t->operand.name, t->n, o->channel + o->n_channels);
}

static void need_weights(native_maker *m, const hw_op *o)
{
    const native_tensor *t = native_at(m, (uint32_t)o->weights);
    uint64_t end = (uint64_t)o->channel + o->n_channels;
    uint32_t in = channels_of(native_at(m, (uint32_t)o->input));

    native_need_type(m, (uint32_t)o->weights, NATIVE_TYPE(BLOB_F16));
    native_need_rank(m, (uint32_t)o->weights, 4, 4);
    if (!m->st && (t->dims[0] != 8 || t->dims[1] != o->kernel_w * o->kernel_h ||
                   t->dims[2] != in || 8 * (uint64_t)t->dims[3] < end ||
                   t->operand.span != 2 * t->n))
        native_bad(m,
                   "weights are %ux%ux%ux%u, expected 8x%ux%ux%" PRIu64
                   " or more of the last, without gaps",
                   t->dims[0], t->dims[1], t->dims[2], t->dims[3],
                   o->kernel_w * o->kernel_h, in, (end + 7) / 8);
}

static void check_op(native_maker *m, const hw_op *o)
{
    const native_tensor *in, *out;
    uint64_t end = (uint64_t)o->channel + o->n_channels;

    if (o->kind == HW_FC)
        native_refuse(m, "operation FC: no compiler was seen to write one, and "
                         "what it does is not certain");
    if (o->input < 0 || o->output < 0 || (o->kind != HW_POOL && o->weights < 0))
        native_bad(m, "%s without input, output or weights",
                   hw_kind_name(o->kind));
    if (m->st)
        return;
    need_planar(m, o->input);
    need_planar(m, o->output);
    in = native_at(m, (uint32_t)o->input);
    out = native_at(m, (uint32_t)o->output);
    if (o->kernel_w - 1 >= MAX_KERNEL || o->kernel_h - 1 >= MAX_KERNEL ||
        o->stride - 1 >= MAX_STRIDE)
        native_bad(m,
                   "kernel %ux%u with stride %u, expected up to %dx%d and %d",
                   o->kernel_w, o->kernel_h, o->stride, MAX_KERNEL, MAX_KERNEL,
                   MAX_STRIDE);
    if (!m->st && (!o->n_channels || end > channels_of(out) ||
                   (o->kind == HW_POOL && end > channels_of(in))))
        native_bad(m, "%u channels from %u on, of %u", o->n_channels,
                   o->channel, channels_of(out));
    if (o->kind == HW_CONV_POOL && (o->pool_w != 2 || o->pool_h != 2))
        native_refuse(m, "fused pooling of %ux%u, expected 2x2", o->pool_w,
                      o->pool_h);
    if (!m->st && o->kind != HW_POOL)
        need_weights(m, o);
    need_vector(m, o->biases, o);
    need_vector(m, o->scales, o);
}

/* --- views of inputs ----------------------------------------------------- */

static native_hw_view view_of(const native_maker *m, const hw_op *o)
{
    const native_tensor *out = native_at(m, (uint32_t)o->output);
    uint32_t fused = o->kind == HW_CONV_POOL ? 2 : 1;
    native_hw_view v = {.input = (uint32_t)o->input,
                        .kernel_w = o->kernel_w,
                        .kernel_h = o->kernel_h,
                        .stride = o->stride,
                        .out_w = out->dims[0] * fused,
                        .out_h = out->dims[1] * fused};

    if (o->kind == HW_POOL && o->pool_type == HW_POOL_MAX) {
        v.outside = -INFINITY;
        v.pad_left = o->pad_mode & HW_PAD_LEFT ? o->kernel_w / 2 : 0;
        v.pad_top = o->pad_mode & HW_PAD_TOP ? o->kernel_h / 2 : 0;
    } else if (o->pads) {
        v.pad_left = o->kernel_w / 2;
        v.pad_top = o->kernel_h / 2;
    }
    v.phase = v.out_w + (o->kernel_w - 1) / o->stride;
    v.row = v.phase * o->stride;
    v.plane =
        (uint64_t)v.row * ((uint64_t)(v.out_h - 1) * o->stride + o->kernel_h);
    return v;
}

static bool same_view(const native_hw_view *p, const native_hw_view *q)
{
    return p->input == q->input && p->kernel_w == q->kernel_w &&
           p->kernel_h == q->kernel_h && p->stride == q->stride &&
           p->pad_left == q->pad_left && p->pad_top == q->pad_top &&
           p->out_w == q->out_w && p->out_h == q->out_h &&
           signbit(p->outside) == signbit(q->outside);
}

static void mark_used(const native_maker *m, native_hw_view *v,
                      const native_hw_work *w)
{
    uint32_t n = channels_of(native_at(m, v->input));

    for (uint32_t c = 0; c < n; c++)
        v->used[c] |= w->op.kind == HW_POOL
                          ? c - w->op.channel < w->op.n_channels
                      : w->use ? w->use->used[c]
                               : true;
}

static void take_view(native_maker *m, native_hw_state *s, native_hw_work *w)
{
    native_hw_view v = view_of(m, &w->op);

    if (v.plane * channels_of(native_at(m, v.input)) > UINT32_MAX / 4)
        native_refuse(m, "its input with what lies around it is too large");
    if (m->st)
        return;
    for (w->view = 0; w->view < s->n_views; w->view++)
        if (same_view(&s->views[w->view], &v))
            break;
    if (w->view == s->n_views) {
        v.used =
            arena_array(m->arena, bool, channels_of(native_at(m, v.input)));
        s->views[s->n_views++] = v;
    }
    mark_used(m, &s->views[w->view], w);
}

/* --- which weights count ------------------------------------------------- */

/* Which weights are not 0: bit o of [channel][block]. */
typedef struct {
    const uint16_t *weights;
    uint32_t kernel, n_in, first_block, n_blocks;
    uint8_t *bits;
} weight_map;

static void map_weights(weight_map *w)
{
    for (uint32_t b = 0; b < w->n_blocks; b++)
        for (uint32_t c = 0; c < w->n_in; c++) {
            const uint16_t *at =
                w->weights +
                ((uint64_t)(w->first_block + b) * w->n_in + c) * w->kernel * 8;
            uint8_t bits = 0;

            for (uint32_t k = 0; k < w->kernel * 8; k++)
                bits |= (uint8_t)((at[k] & 0x7fff ? 1 : 0) << k % 8);
            w->bits[(uint64_t)c * w->n_blocks + b] = bits;
        }
}

static uint32_t count_bits(const weight_map *w, uint64_t *pairs)
{
    uint32_t listed = 0;

    *pairs = 0;
    for (uint32_t c = 0; c < w->n_in; c++)
        for (uint32_t b = 0; b < w->n_blocks; b++) {
            uint8_t bits = w->bits[(uint64_t)c * w->n_blocks + b];

            *pairs += (uint32_t)__builtin_popcount(bits);
            listed += bits != 0;
        }
    return listed;
}

/* Ascending channels for each group of `each` outputs, of which mask tells. */
static uint32_t *list_channels(const weight_map *w, uint32_t n, uint32_t each,
                               uint64_t room, arena *a, uint32_t **first)
{
    uint32_t *list = arena_array(a, uint32_t, room + 1), at = 0;

    *first = arena_array(a, uint32_t, (uint64_t)n + 1);
    for (uint32_t k = 0; k < n; k++) {
        (*first)[k] = at;
        for (uint32_t c = 0; c < w->n_in; c++) {
            const uint8_t *bits = w->bits + (uint64_t)c * w->n_blocks;
            uint32_t b = k * each / 8;
            bool counts = each == 1
                              ? bits[b] >> k % 8 & 1
                              : bits[b] || (b + 1 < w->n_blocks && bits[b + 1]);

            if (counts)
                list[at++] = c;
        }
    }
    (*first)[n] = at;
    return list;
}

void native_hw_use_of(const uint16_t *weights, const native_tensor *t,
                      const hw_op *op, arena *a, native_hw_use *out)
{
    uint32_t from = op->channel / 8,
             to = (op->channel + op->n_channels + 7) / 8;
    weight_map w = {.weights = weights,
                    .kernel = t->dims[1],
                    .n_in = t->dims[2],
                    .first_block = from,
                    .n_blocks = to - from};
    uint32_t listed, *first;
    uint64_t pairs;
    bool *used = arena_array(a, bool, w.n_in);

    w.bits = arena_array(a, uint8_t, (uint64_t)w.n_in *w.n_blocks);
    map_weights(&w);
    listed = count_bits(&w, &pairs);
    for (uint32_t c = 0; c < w.n_in; c++)
        for (uint32_t b = 0; b < w.n_blocks; b++)
            used[c] |= w.bits[(uint64_t)c * w.n_blocks + b] != 0;
    *out = (native_hw_use){.n_pairs = (w.n_blocks + 1) / 2, .used = used};
    out->list =
        list_channels(&w, out->n_pairs, 16, 2 * (uint64_t)listed, a, &first);
    out->first = first;
    if (pairs * SPARSE >= 8 * (uint64_t)listed)
        return;
    out->channel_list = list_channels(&w, 8 * w.n_blocks, 1, pairs, a, &first);
    out->channel_first = first;
}

static const native_hw_use *use_of(native_maker *m, const hw_op *o)
{
    const native_tensor *t = native_at(m, (uint32_t)o->weights);
    const blob_buffer *f = t->operand.buffer;
    native_hw_use *use;

    if (o->kind == HW_POOL || f->location != BLOB_CONST)
        return NULL;
    use = arena_new(m->arena, native_hw_use);
    native_hw_use_of(
        (const uint16_t *)(const void *)(m->blob->constants + f->offset), t, o,
        m->arena, use);
    return use;
}

/* --- the stage ----------------------------------------------------------- */

static void mark_output(native_maker *m, const hw_op *o)
{
    if (o->output >= 0)
        native_mark_written(m, (uint32_t)o->output);
}

void native_make_hw(native_maker *m)
{
    native_hw_state *s = arena_new(m->arena, native_hw_state);
    const hw_op *ops;
    uint32_t n;

    m->op->state = s;
    m->st = hw_stage_read(m->op->stage, m->arena, &ops, &n, m->err);
    m->at = m->op->stage->n_params; /* looked at to the end */
    if (m->st)
        return;
    s->work = arena_array(m->arena, native_hw_work, n + 1);
    s->views = arena_array(m->arena, native_hw_view, n + 1);
    for (; s->n_work < n && !m->st; s->n_work++) {
        native_hw_work *w = &s->work[s->n_work];

        w->op = ops[s->n_work];
        mark_output(m, &w->op);
        check_op(m, &w->op);
        if (m->st)
            err_in(m->err, m->st, "operation %u", s->n_work);
        else
            w->use = use_of(m, &w->op);
        if (!m->st)
            take_view(m, s, w);
    }
}
