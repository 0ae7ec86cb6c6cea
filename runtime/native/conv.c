/* Convolutions and fully connected layers on SHAVEs. Their weights come in an
 * order that the record does not name: it follows from the stage, the data's
 * order and the sizes. */
#include "runtime/native/conv.h"

enum {
    CONV = 0,
    DEPTH_CONV = 8,
    DECONVOLUTION = 22,
    IM2COL = 49,
    DEPTH_DECONV = 63,
    MOST = 65536 /* of a kernel, a stride, a pad, a dilation */
};

/* --- making -------------------------------------------------------------- */

static bool is_minor(const native_tensor *t)
{
    return native_dim(t, NATIVE_C) == 0 && t->rank > 1;
}

/* Kernels that the compiler takes to be spatial where channels lie together. */
static bool is_spatial(const native_conv *s)
{
    return s->x.kernel > 1 && s->x.kernel < 12 && s->x.kernel % 2 == 1 &&
           s->y.kernel != 1 && (uint64_t)s->ic * s->oc <= 256;
}

static void place_weights(native_maker *m, native_conv *s)
{
    uint64_t ic = s->ic, oc = s->oc, k = s->taps;
    bool minor = is_minor(native_at(m, 0));

    s->at_i = 1;
    s->at_o = ic;
    s->at_k = ic * oc;
    switch (m->op->type) {
    case CONV:
        if (minor && is_spatial(s)) {
            s->at_o = 1;
            s->at_i = oc;
        }
        break;
    case IM2COL:
        s->at_k = ic;
        s->at_o = ic * k;
        break;
    case DEPTH_CONV:
        s->at_o = 1;
        s->at_k = oc;
        break;
    case DEPTH_DECONV:
        s->at_o = minor ? 1 : k;
        s->at_k = minor ? oc : 1;
        break;
    }
}

static void take_sizes(native_maker *m, native_conv *s)
{
    native_shape in, out;

    native_need_halves(m);
    for (uint32_t i = 0; i < 2; i++)
        native_need_planes(m, i);
    if (m->st)
        return;
    in = native_shape_of(native_at(m, 0));
    out = native_shape_of(native_at(m, 1));
    native_need_size(m, 1, NATIVE_N, in.n);
    s->n = in.n;
    s->ic = in.c;
    s->oc = out.c;
    s->x.in = in.w;
    s->y.in = in.h;
    s->z.in = in.d;
    s->x.out = out.w;
    s->y.out = out.h;
    s->z.out = out.d;
}

static void take_window(native_maker *m, native_conv *s)
{
    s->x.kernel = native_u32(m, "the kernel's width", 1, MOST);
    s->y.kernel = native_u32(m, "the kernel's height", 1, MOST);
    s->x.stride = native_u32(m, "the stride across", 1, MOST);
    s->y.stride = native_u32(m, "the stride down", 1, MOST);
    s->x.pad = native_u32(m, "the pad on the left", 0, MOST);
    s->y.pad = native_u32(m, "the pad on the top", 0, MOST);
}

/* What all stages with a window have in common. */
static void finish(native_maker *m, native_conv *s, bool depth)
{
    s->z.kernel = s->z.stride = s->z.dilation = 1;
    s->taps = (uint64_t)s->x.kernel * s->y.kernel;
    if (m->st)
        return;
    native_need_size(m, 1, NATIVE_D, s->z.in);
    s->groups = depth ? s->ic : 1;
    if (depth)
        native_need_size(m, 1, NATIVE_C, s->ic);
    native_need_elements(
        m, 2, native_times(s->taps, (uint64_t)s->oc * (depth ? 1 : s->ic)));
    place_weights(m, s);
}

void native_make_conv(native_maker *m)
{
    native_conv *s = arena_new(m->arena, native_conv);

    m->op->state = s;
    take_sizes(m, s);
    take_window(m, s);
    s->x.dilation = native_u32(m, "the dilation across", 1, MOST);
    s->y.dilation = native_u32(m, "the dilation down", 1, MOST);
    finish(m, s, m->op->type == DEPTH_CONV);
}

void native_make_deconv(native_maker *m)
{
    native_conv *s = arena_new(m->arena, native_conv);

    m->op->state = s;
    take_sizes(m, s);
    take_window(m, s);
    s->x.dilation = s->y.dilation = 1;
    s->transposed = s->mirrored = true;
    finish(m, s, m->op->type == DEPTH_DECONV);
}

/* The kernel's sizes are the first dims of the weights, minor first. */
void native_make_conv_nd(native_maker *m)
{
    native_conv *s = arena_new(m->arena, native_conv);
    native_conv_side *sides[] = {&s->x, &s->y, &s->z};
    uint32_t v[4][3] = {{0}, {0}, {1, 1, 1}, {1, 1, 1}};
    const native_tensor *w = native_at(m, 2);
    uint32_t rank = native_at(m, 0)->rank, n = rank > 4 ? 3 : 2;

    m->op->state = s;
    take_sizes(m, s);
    native_need_rank(m, 0, 4, 5);
    native_need_rank(m, 2, n + 2, n + 2);
    native_vector(m, "a pad at the start", 0, MOST, n, v[0]);
    native_vector(m, "a pad at the end", 0, MOST, n,
                  v[1]); /* seen in the sizes */
    native_vector(m, "a stride", 1, MOST, n, v[2]);
    native_vector(m, "a dilation", 1, MOST, n, v[3]);
    s->groups = (uint32_t)native_i32(m, "groups", 1, MOST);
    if (m->st)
        return;
    s->taps = 1;
    for (uint32_t i = 0; i < 3; i++) {
        sides[i]->kernel = i < n ? w->dims[i] : 1;
        sides[i]->pad = v[0][i];
        sides[i]->stride = v[2][i];
        sides[i]->dilation = v[3][i];
        s->taps *= sides[i]->kernel;
    }
    if (s->ic % s->groups || s->oc % s->groups) {
        native_bad(m, "%u groups of %u and %u channels", s->groups, s->ic,
                   s->oc);
        return;
    }
    s->at_k = 1;
    s->at_i = s->taps;
    s->at_o = s->taps * (s->ic / s->groups);
    native_need_elements(m, 2, native_times(s->at_o, s->oc));
    if (native_at(m, 3)->present)
        native_need_elements(m, 3, s->oc);
}

void native_make_fc(native_maker *m)
{
    native_conv *s = arena_new(m->arena, native_conv);

    m->op->state = s;
    take_sizes(m, s);
    if (m->st)
        return;
    native_need_size(m, 1, NATIVE_W, 1);
    native_need_size(m, 1, NATIVE_H, 1);
    native_need_size(m, 0, NATIVE_D, 1);
    native_need_size(m, 1, NATIVE_D, 1);
    s->taps = (uint64_t)s->x.in * s->y.in;
    native_need_elements(m, 2, native_times(s->taps, (uint64_t)s->ic * s->oc));
}

double native_conv_products(const native_op *op)
{
    const native_conv *s = op->state;
    double each =
        (double)s->n * s->oc * s->taps * s->ic / (s->groups ? s->groups : 1);

    return s->transposed ? each * s->x.in * s->y.in * s->z.in
                         : each * s->x.out * s->y.out * s->z.out;
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const native_job *j;
    const native_conv *s;
    const float *in, *weights, *biases;
    float *out;
} job;

/* Positions o of the output for which o * stride + at is within the input. */
typedef struct {
    uint32_t first, end;
} span;

static span span_of(const native_conv_side *s, int64_t at)
{
    int64_t first = at < 0 ? (-at + s->stride - 1) / s->stride : 0;
    int64_t end = at < s->in ? (s->in - 1 - at) / s->stride + 1 : 0;

    end = end < s->out ? end : s->out;
    return first < end ? (span){(uint32_t)first, (uint32_t)end} : (span){0};
}

/* A kernel's element over a row. */
static void add_row(const native_conv_side *s, const float *in, float w,
                    uint32_t tap, float *out)
{
    int64_t at = (int64_t)tap * s->dilation - s->pad;
    span p = span_of(s, at);

    in += p.first < p.end ? at + (int64_t)p.first * s->stride : 0;
    if (s->stride == 1) {
        for (uint32_t x = p.first; x < p.end; x++)
            out[x] += w * *in++;
        return;
    }
    for (uint32_t x = p.first; x < p.end; x++, in += s->stride)
        out[x] += w * *in;
}

/* A row of the input, put where a kernel's element leads. */
static void put_row(const native_conv_side *s, const float *in, float w,
                    uint32_t tap, float *out)
{
    int64_t at = (int64_t)tap - s->pad;

    for (uint32_t x = 0; x < s->in; x++, at += s->stride)
        if (at >= 0 && at < s->out)
            out[at] += w * in[x];
}

static float weight(const native_conv *s, const float *w, uint32_t z,
                    uint32_t y, uint32_t x)
{
    if (s->mirrored) {
        y = s->y.kernel - 1 - y;
        x = s->x.kernel - 1 - x;
    }
    return w[(((uint64_t)z * s->y.kernel + y) * s->x.kernel + x) * s->at_k];
}

/* A plane of the input through one kernel onto a plane of the output. */
static void add_plane(const native_job *j, const native_conv *s,
                      const float *in, const float *w, float *to)
{
    for (uint32_t z = 0; z < s->z.kernel; z++)
        for (uint32_t y = 0; y < s->y.kernel; y++)
            for (uint32_t x = 0; x < s->x.kernel && !native_stopped(j); x++) {
                int64_t atz = (int64_t)z * s->z.dilation - s->z.pad;
                int64_t aty = (int64_t)y * s->y.dilation - s->y.pad;
                span d = span_of(&s->z, atz), h = span_of(&s->y, aty);
                float v = weight(s, w, z, y, x);

                for (uint32_t c = d.first; c < d.end; c++)
                    for (uint32_t b = h.first; b < h.end; b++) {
                        uint64_t plane = (uint64_t)(atz + c * s->z.stride);
                        uint64_t row = (uint64_t)(aty + b * s->y.stride);

                        add_row(&s->x, in + (plane * s->y.in + row) * s->x.in,
                                v, x,
                                to + ((uint64_t)c * s->y.out + b) * s->x.out);
                    }
            }
}

static void put_plane(const native_job *j, const native_conv *s,
                      const float *in, const float *w, float *to)
{
    for (uint32_t y = 0; y < s->y.kernel; y++)
        for (uint32_t x = 0; x < s->x.kernel && !native_stopped(j); x++) {
            float v = weight(s, w, 0, y, x);

            for (uint64_t b = 0; b < (uint64_t)s->z.in * s->y.in; b++) {
                int64_t row = (int64_t)(b % s->y.in) * s->y.stride +
                              (int64_t)y - s->y.pad;

                if (row >= 0 && row < s->y.out)
                    put_row(&s->x, in + b * s->x.in, v, x,
                            to + (b / s->y.in * s->y.out + (uint64_t)row) *
                                     s->x.out);
            }
        }
}

/* A channel of the output; sums are in the order of the channels, then of the
 * kernel. */
static void run_channel(void *arg, uint32_t k)
{
    const job *g = arg;
    const native_conv *s = g->s;
    uint32_t o = k % s->oc, n = k / s->oc, of = s->ic / s->groups;
    uint32_t group = o / (s->oc / s->groups);
    uint64_t plane = (uint64_t)s->x.in * s->y.in * s->z.in;
    uint64_t size = (uint64_t)s->x.out * s->y.out * s->z.out;
    float *out = g->out + k * size;

    for (uint32_t i = 0; i < of; i++) {
        const float *w = g->weights + o * s->at_o + i * s->at_i;
        uint64_t channel = (uint64_t)n * s->ic + group * of + i;

        (s->transposed ? put_plane
                       : add_plane)(g->j, s, g->in + channel * plane, w, out);
    }
    for (uint64_t i = 0; g->biases && i < size; i++)
        out[i] += g->biases[o];
}

/* A kernel of one element goes over a plane as over one long row. */
static native_conv in_rows(const native_conv *s)
{
    native_conv v = *s;
    uint64_t n = (uint64_t)s->x.in * s->y.in * s->z.in;

    if (s->taps != 1 || s->x.stride != 1 || s->y.stride != 1 || s->x.pad ||
        s->y.pad || s->x.in != s->x.out || s->y.in != s->y.out)
        return v;
    v.x.in = v.x.out = (uint32_t)n;
    v.y.in = v.y.out = v.z.in = v.z.out = 1;
    return v;
}

void native_run_conv(const native_job *j)
{
    native_conv s = in_rows(j->op->state);
    job g = {.j = j,
             .s = &s,
             .in = native_load_planes(j, 0),
             .weights = native_load(j, 2),
             .out = native_room(j, native_of(j, 1)->n)};

    if (!native_conv_dense(j, &s, g.in, g.weights, g.out))
        native_each(j, s.n * s.oc, run_channel, &g);
    native_store_planes(j, 1, g.out);
}

void native_run_deconv(const native_job *j)
{
    native_run_conv(j);
}

/* Outputs of all images; sums are in the order of the weights: by positions,
 * then by channels. */
static void run_outputs(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const native_conv *s = g->s;

    for (uint32_t n = 0; n < s->n; n++) {
        const float *in = g->in + n * s->taps * s->ic, *w = g->weights;
        float *out = g->out + (uint64_t)n * s->oc;

        for (uint64_t k = 0; k < s->taps && !native_stopped(g->j); k++)
            for (uint32_t i = 0; i < s->ic; i++, w += s->oc) {
                float v = in[i * s->taps + k];

                for (uint64_t o = first; o < end; o++)
                    out[o] += v * w[o];
            }
    }
}

void native_run_fc(const native_job *j)
{
    const native_conv *s = j->op->state;
    job g = {.j = j,
             .s = s,
             .in = native_load_planes(j, 0),
             .weights = native_load(j, 2),
             .out = native_room(j, native_of(j, 1)->n)};

    native_ranges(j, s->oc, 256, run_outputs, &g);
    native_store_planes(j, 1, g.out);
}

void native_run_conv_nd(const native_job *j)
{
    const native_conv *s = j->op->state;
    job g = {.j = j,
             .s = s,
             .in = native_load_planes(j, 0),
             .weights = native_load(j, 2),
             .biases = native_load(j, 3),
             .out = native_room(j, native_of(j, 1)->n)};

    native_each(j, s->n * s->oc, run_channel, &g);
    native_store_planes(j, 1, g.out);
}
