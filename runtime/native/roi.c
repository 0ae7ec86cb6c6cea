/* Regions of interest: parts of planes, each pooled to one size. */
#include <string.h>

#include "runtime/native/native_priv.h"

enum {
    MOST = 65536,
    MAX_SAMPLES = 64, /* asked for along a bin */
    MAX_LEVELS = 16,
    REPACKED = 2 /* value of a step that works on data as they are */
};

typedef struct {
    uint32_t w, h; /* of the result */
    float scale;
    bool other;           /* bilinear; the largest part */
    uint32_t group;       /* PSROIPooling */
    uint32_t samples;     /* along a bin; 0: by its size */
    uint32_t levels, out; /* tensors */
    float scales[MAX_LEVELS];
} roi;

/* An integer of a number that may be anything. */
static int64_t whole(float v)
{
    const float most = 1 << 24;

    return v != v ? 0 : (int64_t)native_clamp(v, -most, most);
}

static int64_t held(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* --- making -------------------------------------------------------------- */

/* Planes of one channel number, regions of n numbers. */
static void check_sizes(native_maker *m, roi *s, uint32_t rois, uint32_t each)
{
    native_shape out;

    native_need_planes(m, 0);
    native_need_planes(m, s->out);
    if (m->st)
        return;
    out = native_shape_of(native_at(m, s->out));
    native_need_size(m, 0, NATIVE_D, 1);
    native_need_size(m, s->out, NATIVE_D, 1);
    native_need_size(m, s->out, NATIVE_W, s->w);
    native_need_size(m, s->out, NATIVE_H, s->h);
    native_need_elements(m, rois, (uint64_t)each * out.n);
}

void native_make_roi_pooling(native_maker *m)
{
    roi *s = arena_new(m->arena, roi);

    m->op->state = s;
    native_need_halves(m);
    s->out = 1;
    s->w = native_u32(m, "the width", 1, MOST);
    s->h = native_u32(m, "the height", 1, MOST);
    s->scale = native_f32(m, "the scale");
    s->other = native_u32(m, "the method", 0, 1);
    check_sizes(m, s, 2, 5);
    if (!m->st)
        native_need_size(m, 1, NATIVE_C,
                         native_size(native_at(m, 0), NATIVE_C));
}

void native_make_psroi_pooling(native_maker *m)
{
    roi *s = arena_new(m->arena, roi);
    uint32_t channels;

    m->op->state = s;
    native_need_halves(m);
    s->out = 1;
    s->w = s->h = s->group = native_u32(m, "the group's size", 1, 1024);
    channels = native_u32(m, "the output's channels", 1, MOST);
    s->scale = native_f32(m, "the scale");
    check_sizes(m, s, 2, 5);
    if (m->st)
        return;
    native_need_size(m, 1, NATIVE_C, channels);
    native_need_size(m, 0, NATIVE_C, (uint64_t)channels * s->w * s->h);
}

void native_make_roi_align(native_maker *m)
{
    roi *s = arena_new(m->arena, roi);

    m->op->state = s;
    s->out = 3;
    for (uint32_t i = 0; i < 4; i++)
        native_need_type(m, i, NATIVE_TYPE(i == 2 ? BLOB_S32 : BLOB_F16));
    s->w = native_u32(m, "the width", 1, MOST);
    s->h = native_u32(m, "the height", 1, MOST);
    s->samples = native_u32(m, "the sampling ratio", 0, MAX_SAMPLES);
    s->scale = native_f32(m, "the scale");
    s->other = native_i32(m, "the mode", 0, 1);
    if (m->op->stage->n_params > 5 &&
        native_i32(m, "the step", 0, 2) != REPACKED && !m->st)
        native_refuse(m, "data that a step before has repacked");
    check_sizes(m, s, 1, 4);
    if (m->st)
        return;
    native_need_size(m, 3, NATIVE_C, native_size(native_at(m, 0), NATIVE_C));
    native_need_elements(m, 2, native_size(native_at(m, 3), NATIVE_N));
}

void native_make_roi_features(native_maker *m)
{
    roi *s = arena_new(m->arena, roi);
    uint32_t outputs, n;

    m->op->state = s;
    native_need_halves(m);
    s->w = native_u32(m, "the width", 1, MOST);
    s->h = native_u32(m, "the height", 1, MOST);
    s->samples = native_u32(m, "the sampling ratio", 0, MAX_SAMPLES);
    s->levels = native_u32(m, "levels", 1, MAX_LEVELS);
    outputs = 1 + native_flag(m, "use_output_rois");
    for (uint32_t i = 0; i < MAX_LEVELS; i++)
        s->scales[i] = 1 / (float)native_i32(m, "a scale", 1, MOST);
    s->out = 1 + s->levels;
    n = s->out + outputs + 1;
    if (!m->st && m->op->n_tensors != n)
        native_bad(m, "%u buffers, expected %u", m->op->n_tensors, n);
    for (uint32_t i = 0; i < outputs && !m->st; i++)
        native_mark_written(m, s->out + i);
    for (uint32_t i = 1; i <= s->out && !m->st; i++) {
        native_need_planes(m, i);
        native_need_size(m, i, NATIVE_D, 1);
        if (!m->st)
            native_need_size(m, i, NATIVE_C,
                             native_size(native_at(m, 1), NATIVE_C));
    }
    if (m->st)
        return;
    native_need_size(m, s->out, NATIVE_W, s->w);
    native_need_size(m, s->out, NATIVE_H, s->h);
    n = native_size(native_at(m, s->out), NATIVE_N);
    native_need_elements(m, 0, (uint64_t)n * 4);
    if (outputs == 2)
        native_need_elements(m, s->out + 1, (uint64_t)n * 4);
}

/* --- pooling ------------------------------------------------------------- */

typedef struct {
    const native_job *j;
    const roi *s;
    const float *in, *rois;
    float *out;
    native_shape from, to;
} job;

/* The whole elements that a bin of n covers of a side: [first, end). */
static void bin_of(int64_t start, int64_t size, uint32_t bin, uint32_t n,
                   uint32_t side, int64_t *first, int64_t *end)
{
    *first = held(start + (int64_t)bin * size / n, 0, side);
    *end = held(start + ((int64_t)(bin + 1) * size + n - 1) / n, 0, side);
}

static void pool_max(const job *g, const float *in, const float *r, float *out)
{
    const roi *s = g->s;
    int64_t x0 = whole(roundf(r[1] * s->scale));
    int64_t y0 = whole(roundf(r[2] * s->scale));
    int64_t w = whole(roundf(r[3] * s->scale)) - x0 + 1;
    int64_t h = whole(roundf(r[4] * s->scale)) - y0 + 1;

    for (uint32_t k = 0; k < s->w * s->h && !native_stopped(g->j); k++) {
        int64_t left, right, top, bottom;
        bool found = false;

        bin_of(x0, w > 1 ? w : 1, k % s->w, s->w, g->from.w, &left, &right);
        bin_of(y0, h > 1 ? h : 1, k / s->w, s->h, g->from.h, &top, &bottom);
        for (int64_t y = top; y < bottom; y++)
            for (int64_t x = left; x < right; x++) {
                float v = in[y * g->from.w + x];

                out[k] = !found || v > out[k] ? v : out[k];
                found = true;
            }
    }
}

/* Where output o of n lies on a side; corners are parts of it. */
static float middle(float from, float to, uint32_t o, uint32_t n, uint32_t side)
{
    float most = (float)(side - 1);

    return n > 1
               ? (float)o * ((to - from) * most / (float)(n - 1)) + from * most
               : 0.5f * (from + to) * most;
}

static void pool_linear(const job *g, const float *in, const float *r,
                        float *out)
{
    const roi *s = g->s;
    uint32_t w = g->from.w, h = g->from.h;

    for (uint32_t k = 0; k < s->w * s->h && !native_stopped(g->j); k++) {
        float x = middle(r[1], r[3], k % s->w, s->w, w);
        float y = middle(r[2], r[4], k / s->w, s->h, h), top, bottom;
        uint32_t left, right, up, down;

        if (!(x >= 0 && x <= (float)(w - 1) && y >= 0 && y <= (float)(h - 1)))
            continue;
        left = (uint32_t)x;
        up = (uint32_t)y;
        right = left + 1 < w ? left + 1 : left;
        down = up + 1 < h ? up + 1 : up;
        x -= (float)left;
        y -= (float)up;
        top = in[up * w + left] + (in[up * w + right] - in[up * w + left]) * x;
        bottom = in[down * w + left] +
                 (in[down * w + right] - in[down * w + left]) * x;
        out[k] = top + (bottom - top) * y;
    }
}

/* Image of a region; false: there is none. */
static bool image_of(const job *g, float number, uint32_t *n)
{
    int64_t i = whole(number);

    *n = (uint32_t)i;
    return i >= 0 && i < g->from.n;
}

/* Channel k % c of region k / c. */
static void run_pool(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    uint64_t plane = (uint64_t)g->from.w * g->from.h;

    for (uint64_t k = first; k < end; k++) {
        uint32_t c = (uint32_t)(k % g->to.c), n;
        const float *r = g->rois + k / g->to.c * 5;

        if (image_of(g, r[0], &n))
            (g->s->other ? pool_linear : pool_max)(
                g, g->in + ((uint64_t)n * g->from.c + c) * plane, r,
                g->out + k * g->to.w * g->to.h);
    }
}

static job job_of(const native_job *j, uint32_t in, uint32_t rois)
{
    const roi *s = j->op->state;

    return (job){j,
                 s,
                 native_load_planes(j, in),
                 native_load(j, rois),
                 native_room(j, native_of(j, s->out)->n),
                 native_shape_of(native_of(j, in)),
                 native_shape_of(native_of(j, s->out))};
}

void native_run_roi_pooling(const native_job *j)
{
    job g = job_of(j, 0, 2);

    native_ranges(j, (uint64_t)g.to.n * g.to.c, 16, run_pool, &g);
    native_store_planes(j, g.s->out, g.out);
}

/* --- with a channel for each bin ----------------------------------------- */

static float bin_mean(const job *g, const float *in, float x0, float y0,
                      float w, float h)
{
    int64_t left = held(whole(floorf(x0)), 0, g->from.w);
    int64_t right = held(whole(ceilf(x0 + w)), 0, g->from.w);
    int64_t top = held(whole(floorf(y0)), 0, g->from.h);
    int64_t bottom = held(whole(ceilf(y0 + h)), 0, g->from.h);
    float sum = 0;

    if (left >= right || top >= bottom)
        return 0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x++)
            sum += in[y * g->from.w + x];
    return sum / (float)((right - left) * (bottom - top));
}

static void run_psroi(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const roi *s = g->s;

    for (uint64_t k = first; k < end; k++) {
        uint32_t c = (uint32_t)(k % g->to.c), n;
        const float *r = g->rois + k / g->to.c * 5;
        float x0 = roundf(r[1]) * s->scale, y0 = roundf(r[2]) * s->scale;
        float w = (roundf(r[3]) + 1) * s->scale - x0;
        float h = (roundf(r[4]) + 1) * s->scale - y0;
        float *out = g->out + k * s->w * s->h;

        if (!image_of(g, r[0], &n))
            continue;
        w = (w > 0.1f ? w : 0.1f) / (float)s->w;
        h = (h > 0.1f ? h : 0.1f) / (float)s->h;
        for (uint32_t b = 0; b < s->w * s->h && !native_stopped(g->j); b++) {
            uint64_t channel =
                ((uint64_t)n * g->from.c + (uint64_t)c * s->w * s->h + b);

            out[b] = bin_mean(g, g->in + channel * g->from.w * g->from.h,
                              x0 + (float)(b % s->w) * w,
                              y0 + (float)(b / s->w) * h, w, h);
        }
    }
}

void native_run_psroi_pooling(const native_job *j)
{
    job g = job_of(j, 0, 2);

    native_ranges(j, (uint64_t)g.to.n * g.to.c, 16, run_psroi, &g);
    native_store_planes(j, g.s->out, g.out);
}

/* --- aligned ------------------------------------------------------------- */

/* What a sample takes from four elements. */
typedef struct {
    uint32_t at[4];
    float parts[4];
} sample;

/* False: it lies outside, and gives 0. */
static bool sample_of(float x, float y, uint32_t w, uint32_t h, sample *out)
{
    uint32_t left, right, up, down;

    if (!(x >= -1 && x <= (float)w && y >= -1 && y <= (float)h))
        return false;
    x = x > 0 ? x : 0;
    y = y > 0 ? y : 0;
    left = (uint32_t)x < w - 1 ? (uint32_t)x : w - 1;
    up = (uint32_t)y < h - 1 ? (uint32_t)y : h - 1;
    right = left + 1 < w ? left + 1 : left;
    down = up + 1 < h ? up + 1 : up;
    x = left == right ? 0 : x - (float)left;
    y = up == down ? 0 : y - (float)up;
    *out = (sample){
        {up * w + left, up * w + right, down * w + left, down * w + right},
        {(1 - y) * (1 - x), (1 - y) * x, y * (1 - x), y * x}};
    return true;
}

/* Samples along a bin of that size. */
static uint32_t samples_of(const roi *s, float bin, uint32_t side)
{
    int64_t n = whole(ceilf(bin));

    return s->samples ? s->samples : (uint32_t)held(n, 1, (int64_t)side + 1);
}

/* A region, by its corner and its size on a plane. */
typedef struct {
    float x, y, w, h; /* w, h: of a bin */
    uint32_t across, down;
} grid;

static grid grid_of(const roi *s, const float *r, float scale,
                    native_shape from)
{
    float w = (r[2] - r[0]) * scale, h = (r[3] - r[1]) * scale;
    grid v = {.x = r[0] * scale, .y = r[1] * scale};

    v.w = (w > 1 ? w : 1) / (float)s->w;
    v.h = (h > 1 ? h : 1) / (float)s->h;
    v.across = samples_of(s, v.w, from.w);
    v.down = samples_of(s, v.h, from.h);
    return v;
}

static float align_bin(const job *g, const float *in, const grid *v, uint32_t b)
{
    const roi *s = g->s;
    float x0 = v->x + (float)(b % s->w) * v->w;
    float y0 = v->y + (float)(b / s->w) * v->h;
    float sum = 0, most = 0;

    for (uint32_t k = 0; k < v->across * v->down; k++) {
        float x =
            x0 + ((float)(k % v->across) + 0.5f) * v->w / (float)v->across;
        float y = y0 + ((float)(k / v->across) + 0.5f) * v->h / (float)v->down;
        sample p;

        if (!sample_of(x, y, g->from.w, g->from.h, &p))
            continue;
        for (uint32_t i = 0; i < 4; i++) {
            float part = in[p.at[i]] * p.parts[i];

            sum += part;
            most = part > most ? part : most;
        }
    }
    return s->other ? most : sum / (float)(v->across * v->down);
}

static void align_region(const job *g, const float *in, const grid *v,
                         float *out)
{
    for (uint32_t b = 0; b < g->s->w * g->s->h && !native_stopped(g->j); b++)
        out[b] = align_bin(g, in, v, b);
}

typedef struct {
    job g;
    const int32_t *images;
    float scale;
} align_job;

static void run_align(void *arg, uint64_t first, uint64_t end)
{
    const align_job *a = arg;
    const job *g = &a->g;

    for (uint64_t k = first; k < end; k++) {
        uint64_t r = k / g->to.c, c = k % g->to.c;
        grid v = grid_of(g->s, g->rois + r * 4, a->scale, g->from);
        int64_t n = a->images ? a->images[r] : 0;

        if (n < 0 || n >= g->from.n)
            continue;
        align_region(
            g, g->in + ((uint64_t)n * g->from.c + c) * g->from.w * g->from.h,
            &v, g->out + k * g->to.w * g->to.h);
    }
}

void native_run_roi_align(const native_job *j)
{
    align_job a = {job_of(j, 0, 1), native_load_int(j, 2), 0};

    a.scale = a.g.s->scale;
    native_ranges(j, (uint64_t)a.g.to.n * a.g.to.c, 16, run_align, &a);
    native_store_planes(j, a.g.s->out, a.g.out);
}

/* --- of a pyramid -------------------------------------------------------- */

/* The level for a region: the third one for one as large as 224 by 224, one
 * less for half of that. An empty one has none. */
static int64_t level_of(const roi *s, const float *r)
{
    float area = (r[2] - r[0]) * (r[3] - r[1]);
    double level;

    if (!(area > 0))
        return -1;
    level = floor(log2((double)(sqrtf(area) / 224 + 1e-6f)) + 2);
    return level < 0 ? 0 : level < s->levels ? (int64_t)level : s->levels - 1;
}

void native_run_roi_features(const native_job *j)
{
    const roi *s = j->op->state;
    const float *rois = native_load(j, 0);
    native_shape to = native_shape_of(native_of(j, s->out));
    uint64_t size = (uint64_t)to.c * to.w * to.h;
    float *out = native_room(j, to.n * size);

    for (uint32_t l = 0; l < s->levels; l++) {
        align_job a = {{j, s, native_load_planes(j, 1 + l), NULL, NULL,
                        native_shape_of(native_of(j, 1 + l)), to},
                       NULL,
                       s->scales[l]};

        for (uint32_t r = 0; r < to.n; r++) {
            if (level_of(s, rois + r * 4) != l)
                continue;
            a.g.rois = rois + r * 4;
            a.g.out = out + r * size;
            native_ranges(j, to.c, 16, run_align, &a);
        }
    }
    native_store_planes(j, s->out, out);
    if (s->out + 2 < j->op->n_tensors) /* behind it stands the scratch memory */
        native_store(j, s->out + 1, rois);
}
