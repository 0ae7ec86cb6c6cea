/* Hardware stages: running them. Work is cut into units that write different
 * outputs, so that threads need not know of each other. */
#include <math.h>
#include <string.h>

#include "runtime/graph/tensor.h"
#include "runtime/native/hw.h"

enum {
    CHUNK = 8 * NATIVE_HW_POSITIONS, /* positions of a unit */
    OUTPUTS = 2 * NATIVE_HW_BLOCK,
    MAX_ROW = 8192 /* positions of a row: planes of 4096, pooled */
};

/* A view, filled. */
typedef struct {
    const native_hw_view *v;
    const native_tensor *t;
    const uint8_t *from;
    float *data;       /* of channel 0 */
    uint32_t *offsets; /* of the kernel's places in a plane */
    bool *odd;         /* by channel: not all of it are numbers */
    bool any_odd;
} filled;

/* A piece of work, with what its units need. */
typedef struct {
    const native_hw_work *w;
    const native_hw_use *use;
    const filled *in;
    const native_tensor *out;
    uint8_t *to;
    const uint16_t *weights;
    const float *biases, *scales; /* NULL: none */
    uint32_t out_w, out_h;        /* of the output; a fused pooling behind */
    uint32_t n_chunks;            /* dense: units of a pair */
    uint64_t first_unit;
} work;

typedef struct {
    const native_job *job;
    filled *views;
    uint32_t *fill_view, *fill_channel; /* by unit of filling */
    work *works;
    uint32_t n_works;
} hw_run;

/* --- inputs -------------------------------------------------------------- */

static bool is_odd(const uint16_t *row, uint32_t n)
{
    uint32_t odd = 0;

    for (uint32_t i = 0; i < n; i++)
        odd |= (row[i] & 0x7c00u) == 0x7c00u;
    return odd;
}

/* Columns with the same remainder by the stride lie together. */
static void spread(const native_hw_view *v, const float *row, uint32_t n,
                   float *to)
{
    for (uint32_t x = 0; x < n; x++) {
        uint32_t column = x + v->pad_left;
        uint32_t at = column / v->stride;

        if (at < v->phase)
            to[column % v->stride * v->phase + at] = row[x];
    }
}

static void fill_row(const filled *f, uint32_t c, uint32_t y, float *to)
{
    const native_hw_view *v = f->v;
    const uint16_t *row =
        (const uint16_t *)(const void *)(f->from +
                                         (uint64_t)c * f->t->strides[2] +
                                         (uint64_t)y * f->t->strides[1]);
    uint32_t n = f->t->dims[0], room = v->row - v->pad_left;
    float values[4096];

    if (v->pad_left >= v->row)
        return;
    f->odd[c] |= is_odd(row, n);
    if (v->stride == 1) {
        native_from_half(row, to + v->pad_left, n < room ? n : room);
        return;
    }
    native_from_half(row, values, n);
    spread(v, values, n, to);
}

static void fill_channel(void *arg, uint32_t unit)
{
    const hw_run *r = arg;
    const filled *f = &r->views[r->fill_view[unit]];
    const native_hw_view *v = f->v;
    uint32_t c = r->fill_channel[unit], rows = (uint32_t)(v->plane / v->row);
    float *plane = f->data + c * v->plane;

    if (v->outside != 0)
        for (uint64_t i = 0; i < v->plane; i++)
            plane[i] = v->outside;
    for (uint32_t y = 0; y < f->t->dims[1] && y + v->pad_top < rows; y++)
        fill_row(f, c, y, plane + (uint64_t)(y + v->pad_top) * v->row);
}

/* What vectors read behind the last element of a plane. */
enum { SLACK = 64 };

static void prepare(hw_run *r, uint32_t i)
{
    const native_job *j = r->job;
    const native_hw_state *s = j->op->state;
    const native_hw_view *v = &s->views[i];
    filled *f = &r->views[i];
    uint32_t n = v->kernel_w * v->kernel_h, channels;

    *f = (filled){
        .v = v, .t = native_of(j, v->input), .from = native_data(j, v->input)};
    channels = native_size(f->t, NATIVE_C);
    f->data = native_room(j, v->plane * channels + SLACK);
    f->odd = arena_array(j->arena, bool, channels);
    f->offsets = arena_array(j->arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t x = k % v->kernel_w, y = k / v->kernel_w;

        f->offsets[k] = y * v->row + x % v->stride * v->phase + x / v->stride;
    }
}

static void fill_views(hw_run *r)
{
    const native_hw_state *s = r->job->op->state;
    uint32_t n = 0, most = 0;

    r->views = arena_array(r->job->arena, filled, s->n_views + 1);
    for (uint32_t i = 0; i < s->n_views; i++) {
        prepare(r, i);
        most += native_size(r->views[i].t, NATIVE_C);
    }
    r->fill_view = arena_array(r->job->arena, uint32_t, most + 1);
    r->fill_channel = arena_array(r->job->arena, uint32_t, most + 1);
    for (uint32_t i = 0; i < s->n_views; i++)
        for (uint32_t c = 0; c < native_size(r->views[i].t, NATIVE_C); c++)
            if (s->views[i].used[c]) {
                r->fill_view[n] = i;
                r->fill_channel[n++] = c;
            }
    native_each(r->job, n, fill_channel, r);
    for (uint32_t k = 0; k < n; k++) {
        filled *f = &r->views[r->fill_view[k]];

        f->any_odd |= f->odd[r->fill_channel[k]];
    }
}

/* --- behind the sums ----------------------------------------------------- */

/* A multiplier of 0 gives +0; whether the engine keeps the sign is not known
 * [U]. */
static float activated(const hw_op *o, float v)
{
    if (o->relu && v < (float)o->t0 && !o->a0)
        return 0;
    if (o->relu)
        return v < (float)o->t0 ? v * (float)o->a0 : v * (float)o->a1;
    if (o->clamp)
        return v < 0 ? 0 : v > o->clamp_max ? o->clamp_max : v;
    return v;
}

/* A ReLU that is one: what is below 0 becomes 0. On the bits, many at once. */
static bool is_plain_relu(const hw_op *o)
{
    return o->relu && !o->t0 && !o->a0 && o->a1 == 1;
}

static void plain_relu(uint16_t *half, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        half[i] = half[i] > 0x8000 && half[i] <= 0xfc00 ? 0 : half[i];
}

static void hold(float *v, float most, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        float x = v[i] < 0 ? 0 : v[i];

        v[i] = x > most ? most : x;
    }
}

static void activate(const hw_op *op, float *v, uint16_t *half, uint32_t n)
{
    if (is_plain_relu(op)) {
        plain_relu(half, n);
        return;
    }
    native_from_half(half, v, n);
    if (op->clamp && !op->relu)
        hold(v, op->clamp_max, n);
    else
        for (uint32_t i = 0; i < n; i++)
            v[i] = activated(op, v[i]);
    native_to_half(v, half, n);
}

/* Of output channel o, n of them, in place: docs/networks.md, "Hardware
 * operations". Halves are rounded before the multipliers of a ReLU, which are
 * not exact behind them unless they are 0 and 1. */
static void finish(const work *w, uint32_t o, float *v, uint16_t *half,
                   uint32_t n)
{
    const hw_op *op = &w->w->op;
    float bias = w->biases ? w->biases[o] : 0;
    float scale = w->scales ? w->scales[o] : 1;
    float count = (float)(op->kernel_w * op->kernel_h);

    if (op->kind == HW_POOL && op->pool_type == HW_POOL_AVERAGE)
        for (uint32_t i = 0; i < n; i++)
            v[i] /= count;
    if (w->biases || w->scales)
        for (uint32_t i = 0; i < n; i++)
            v[i] = (v[i] + bias) * scale;
    native_to_half(v, half, n);
    if (op->relu || op->clamp)
        activate(op, v, half, n);
    /* One NaN: which one a sum gives depends on the host. */
    for (uint32_t i = 0; i < n; i++)
        half[i] = (half[i] & 0x7fff) > 0x7c00 ? 0x7e00 : half[i];
}

static uint8_t *place(const work *w, uint32_t o, uint32_t y, uint32_t x)
{
    return w->to + (uint64_t)o * w->out->strides[2] +
           (uint64_t)y * w->out->strides[1] + (uint64_t)x * 2;
}

static uint16_t larger_half(uint16_t a, uint16_t b)
{
    return tensor_f16_to_f32(b) > tensor_f16_to_f32(a) ? b : a;
}

/* --- dense units --------------------------------------------------------- */

/* Positions of a unit: where they are in the output of the convolution. */
typedef struct {
    uint32_t n, y[CHUNK], x[CHUNK];
} positions;

static void in_rows(const work *w, uint32_t chunk, positions *p)
{
    uint64_t first = (uint64_t)chunk * CHUNK,
             all = (uint64_t)w->out_w * w->out_h;

    for (p->n = 0; p->n < CHUNK && first + p->n < all; p->n++) {
        p->y[p->n] = (uint32_t)((first + p->n) / w->out_w);
        p->x[p->n] = (uint32_t)((first + p->n) % w->out_w);
    }
}

/* Four for each pooled one, beside each other. */
static void in_squares(const work *w, uint32_t chunk, positions *p)
{
    uint64_t first = (uint64_t)chunk * (CHUNK / 4),
             all = (uint64_t)w->out_w * w->out_h;

    for (p->n = 0; p->n < CHUNK && first + p->n / 4 < all; p->n++) {
        uint64_t at = first + p->n / 4;

        p->y[p->n] = (uint32_t)(at / w->out_w) * 2 + p->n % 4 / 2;
        p->x[p->n] = (uint32_t)(at % w->out_w) * 2 + p->n % 2;
    }
}

/* sums[o][p] */
static void sum_up(const work *w, uint32_t pair, const positions *p,
                   float sums[OUTPUTS][CHUNK])
{
    const native_hw_view *v = w->in->v;
    const native_hw_use *u = w->use;
    uint32_t block = w->w->op.channel / 8 + 2 * pair;
    uint64_t size = (uint64_t)native_size(w->in->t, NATIVE_C) * v->kernel_w *
                    v->kernel_h * NATIVE_HW_BLOCK;
    bool second = (block + 1) * 8 < w->w->op.channel + w->w->op.n_channels;
    native_hw_tile t = {.channels = u->list + u->first[pair],
                        .n_channels = u->first[pair + 1] - u->first[pair],
                        .kernel = v->kernel_w * v->kernel_h,
                        .taps = w->in->offsets,
                        .plane = v->plane};

    t.weights[0] = w->weights + block * size;
    t.weights[1] = second ? t.weights[0] + size : t.weights[0];
    for (uint32_t at = 0; at < p->n; at += NATIVE_HW_POSITIONS) {
        float acc[NATIVE_HW_POSITIONS][OUTPUTS] = {{0}};

        for (uint32_t i = 0; i < NATIVE_HW_POSITIONS; i++) {
            uint32_t k = at + i < p->n ? at + i : p->n - 1;

            t.base[i] =
                w->in->data + (uint64_t)p->y[k] * v->stride * v->row + p->x[k];
        }
        native_hw_dense(&t, w->in->any_odd, acc);
        for (uint32_t i = 0; i < NATIVE_HW_POSITIONS; i++)
            for (uint32_t o = 0; o < OUTPUTS; o++)
                sums[o][at + i] = acc[i][o];
    }
}

static void put_rows(const work *w, uint32_t o, const positions *p,
                     const uint16_t *half)
{
    for (uint32_t at = 0, n; at < p->n; at += n) {
        n = w->out_w - p->x[at] < p->n - at ? w->out_w - p->x[at] : p->n - at;
        memcpy(place(w, o, p->y[at], p->x[at]), half + at, n * 2);
    }
}

static void put_squares(const work *w, uint32_t o, const positions *p,
                        const uint16_t *half)
{
    for (uint32_t at = 0; at < p->n; at += 4) {
        uint16_t best = larger_half(larger_half(half[at], half[at + 1]),
                                    larger_half(half[at + 2], half[at + 3]));

        memcpy(place(w, o, p->y[at] / 2, p->x[at] / 2), &best, 2);
    }
}

static void run_dense(const work *w, uint32_t unit)
{
    const hw_op *op = &w->w->op;
    bool pooled = op->kind == HW_CONV_POOL;
    uint32_t pair = unit / w->n_chunks;
    uint32_t from = (op->channel / 8 + 2 * pair) * 8;
    float sums[OUTPUTS][CHUNK];
    uint16_t half[CHUNK];
    positions p;

    (pooled ? in_squares : in_rows)(w, unit % w->n_chunks, &p);
    sum_up(w, pair, &p, sums);
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        uint32_t o = from + i;

        if (o < op->channel || o >= op->channel + op->n_channels)
            continue;
        finish(w, o, sums[i], half, p.n);
        (pooled ? put_squares : put_rows)(w, o, &p, half);
    }
}

/* --- units of one output channel ----------------------------------------- */

static void sum_row(const work *w, uint32_t o, uint32_t y, float *acc)
{
    const hw_op *op = &w->w->op;
    const native_hw_view *v = w->in->v;
    uint32_t n = v->kernel_w * v->kernel_h;
    const float *row = w->in->data + (uint64_t)y * v->stride * v->row;
    const native_hw_use *u = w->use;
    uint32_t at = o - op->channel / 8 * 8;

    if (op->kind == HW_POOL) {
        bool max = op->pool_type == HW_POOL_MAX;

        for (uint32_t x = 0; x < v->out_w; x++)
            acc[x] = max ? -INFINITY : 0;
        native_hw_row(max ? NATIVE_HW_MAX : NATIVE_HW_SUM, row + o * v->plane,
                      w->in->offsets, NULL, n, acc, v->out_w);
        return;
    }
    memset(acc, 0, v->out_w * sizeof *acc);
    for (uint32_t i = u->channel_first[at]; i < u->channel_first[at + 1]; i++) {
        uint32_t c = u->channel_list[i];
        uint64_t in = native_size(w->in->t, NATIVE_C);

        native_hw_row(NATIVE_HW_MAC, row + c * v->plane, w->in->offsets,
                      w->weights + ((o / 8 * in + c) * n) * 8 + o % 8, n, acc,
                      v->out_w);
    }
}

static void run_channel(const work *w, uint32_t unit)
{
    const hw_op *op = &w->w->op;
    uint32_t o = op->channel + unit, fused = op->kind == HW_CONV_POOL ? 2 : 1;
    uint32_t n = w->in->v->out_w;
    float acc[MAX_ROW];
    uint16_t half[2][MAX_ROW];

    for (uint32_t y = 0; y < w->out_h; y++) {
        for (uint32_t k = 0; k < fused; k++) {
            sum_row(w, o, y * fused + k, acc);
            finish(w, o, acc, half[k], n);
        }
        for (uint32_t x = 0; x < w->out_w && fused == 2; x++)
            half[0][x] =
                larger_half(larger_half(half[0][2 * x], half[0][2 * x + 1]),
                            larger_half(half[1][2 * x], half[1][2 * x + 1]));
        memcpy(place(w, o, y, 0), half[0], w->out_w * 2);
    }
}

/* --- all of it ----------------------------------------------------------- */

static bool by_channel(const work *w)
{
    return w->w->op.kind == HW_POOL || w->use->channel_list;
}

static uint64_t count_units(work *w)
{
    uint32_t each = w->w->op.kind == HW_CONV_POOL ? CHUNK / 4 : CHUNK;

    if (by_channel(w))
        return w->w->op.n_channels;
    w->n_chunks = (uint32_t)(((uint64_t)w->out_w * w->out_h + each - 1) / each);
    return (uint64_t)w->n_chunks * w->use->n_pairs;
}

static void run_unit(void *arg, uint32_t unit)
{
    const hw_run *r = arg;
    uint32_t low = 0, high = r->n_works;
    const work *w;

    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;

        *(r->works[mid].first_unit <= unit ? &low : &high) = mid;
    }
    w = &r->works[low];
    (by_channel(w) ? run_channel : run_dense)(w,
                                              unit - (uint32_t)w->first_unit);
}

static const float *vector_of(const native_job *j, int32_t i)
{
    return i < 0 ? NULL : native_load(j, (uint32_t)i);
}

static void take_work(hw_run *r, uint32_t i, uint64_t *units)
{
    const native_job *j = r->job;
    const native_hw_state *s = j->op->state;
    const native_hw_work *from = &s->work[i];
    work *w = &r->works[i];

    *w = (work){.w = from,
                .use = from->use,
                .in = &r->views[from->view],
                .out = native_of(j, (uint32_t)from->op.output),
                .to = native_data(j, (uint32_t)from->op.output),
                .biases = vector_of(j, from->op.biases),
                .scales = vector_of(j, from->op.scales),
                .first_unit = *units};
    w->out_w = w->out->dims[0];
    w->out_h = w->out->dims[1];
    if (from->op.kind != HW_POOL) {
        uint32_t k = (uint32_t)from->op.weights;

        w->weights = (const uint16_t *)(const void *)native_data(j, k);
        if (!w->use) {
            native_hw_use *u = arena_new(j->arena, native_hw_use);

            native_hw_use_of(w->weights, native_of(j, k), &from->op, j->arena,
                             u);
            w->use = u;
        }
    }
    *units += count_units(w);
}

void native_run_hw(const native_job *j)
{
    const native_hw_state *s = j->op->state;
    hw_run r = {.job = j, .n_works = s->n_work};
    uint64_t units = 0;

    if (!s->n_work)
        return;
    fill_views(&r);
    r.works = arena_array(j->arena, work, s->n_work);
    for (uint32_t i = 0; i < s->n_work; i++)
        take_work(&r, i, &units);
    native_each(j, (uint32_t)units, run_unit, &r);
}
