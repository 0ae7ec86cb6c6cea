/* Normalizations: a value by what its neighbours are like. */
#include "runtime/graph/tensor.h"
#include "runtime/native/native_priv.h"

enum { LRN = 11, MOST = 65536 };

static void check_planes(native_maker *m)
{
    native_need_halves(m);
    native_need_same(m, 0, 1);
    native_need_planes(m, 0);
}

/* Positions of a plane, all of its dims. */
static uint64_t plane_of(const native_tensor *t)
{
    native_shape s = native_shape_of(t);

    return (uint64_t)s.d * s.h * s.w;
}

/* --- by the length along channels ---------------------------------------- */

typedef struct {
    bool across, shared;
    float least; /* what is added to the square of the length */
} lengths;

void native_make_normalize(native_maker *m)
{
    lengths *s = arena_new(m->arena, lengths);

    m->op->state = s;
    check_planes(m);
    s->across = native_i32(m, "acrossSpatial", 0, 1);
    s->shared = native_i32(m, "channelShared", 0, 1);
    s->least = native_f32(m, "eps");
    native_need_elements(
        m, 2, s->shared ? 1 : native_size(native_at(m, 0), NATIVE_C));
}

void native_make_grn(native_maker *m)
{
    lengths *s = arena_new(m->arena, lengths);

    m->op->state = s;
    check_planes(m);
    s->shared = true;
    s->least = native_f32(m, "the bias") + 1e-9f;
}

typedef struct {
    float *v;
    const float *scales; /* NULL: 1 */
    const lengths *s;
    uint64_t plane;
    uint32_t channels;
} length_job;

static float inverse(const lengths *s, float squares)
{
    float length = sqrtf(s->least + squares);

    return length > 0 ? 1 / length : 0; /* [?] of nothing but zeros */
}

/* Positions, of all images. */
static void divide_positions(void *arg, uint64_t first, uint64_t end)
{
    const length_job *g = arg;

    for (uint64_t k = first; k < end; k++) {
        float *v = g->v + k / g->plane * g->channels * g->plane + k % g->plane;
        float squares = 0, by;

        for (uint32_t c = 0; c < g->channels; c++)
            squares += v[c * g->plane] * v[c * g->plane];
        by = inverse(g->s, squares);
        for (uint32_t c = 0; c < g->channels; c++)
            v[c * g->plane] *=
                g->scales ? g->scales[g->s->shared ? 0 : c] * by : by;
    }
}

static void divide_image(void *arg, uint32_t n)
{
    const length_job *g = arg;
    uint64_t size = g->channels * g->plane;
    float *v = g->v + n * size;
    double squares = 0;
    float by;

    for (uint64_t i = 0; i < size; i++)
        squares += (double)v[i] * (double)v[i];
    by = inverse(g->s, (float)squares);
    for (uint64_t i = 0; i < size; i++)
        v[i] *= g->scales[g->s->shared ? 0 : i / g->plane] * by;
}

static void run_lengths(const native_job *j, const float *scales)
{
    const native_tensor *t = native_of(j, 0);
    length_job g = {native_load_planes(j, 0), scales, j->op->state, plane_of(t),
                    native_size(t, NATIVE_C)};

    if (g.s->across)
        native_each(j, native_size(t, NATIVE_N), divide_image, &g);
    else
        native_ranges(j, t->n / g.channels, 4096 / g.channels + 1,
                      divide_positions, &g);
    native_store_planes(j, 1, g.v);
}

void native_run_normalize(const native_job *j)
{
    run_lengths(j, native_load(j, 2));
}

void native_run_grn(const native_job *j)
{
    run_lengths(j, NULL);
}

/* --- by mean and variance ------------------------------------------------ */

typedef struct {
    bool scales, across, rows;
    float least;
} moments;

void native_make_mvn(native_maker *m)
{
    moments *s = arena_new(m->arena, moments);

    m->op->state = s;
    check_planes(m);
    s->scales = native_i32(m, "normalize", 0, 1);
    s->across = native_i32(m, "acrossChannels", 0, 1);
    /* [B] Of the last compilers a word more: the mean is that of a row. */
    if (m->op->stage->n_params > 3)
        s->rows = native_i32(m, "acrossWidth", 0, 1);
    s->least = native_f32(m, "eps");
}

typedef struct {
    float *v;
    const moments *s;
    uint64_t n; /* values that have a mean */
} moment_job;

static void take_mean(void *arg, uint64_t first, uint64_t end)
{
    const moment_job *g = arg;

    for (uint64_t k = first; k < end; k++) {
        float *v = g->v + k * g->n, mean, by = 1;
        double sum = 0, squares = 0;

        for (uint64_t i = 0; i < g->n; i++)
            sum += (double)v[i];
        mean = (float)(sum / (double)g->n);
        for (uint64_t i = 0; i < g->n; i++) {
            v[i] -= mean;
            squares += (double)v[i] * (double)v[i];
        }
        if (g->s->scales) {
            float by_one = (float)sqrt(squares / (double)g->n) + g->s->least;

            by = by_one > 0 ? 1 / by_one : 0;
        }
        for (uint64_t i = 0; i < g->n; i++)
            v[i] *= by;
    }
}

void native_run_mvn(const native_job *j)
{
    const native_tensor *t = native_of(j, 0);
    moment_job g = {native_load_planes(j, 0), j->op->state, plane_of(t)};

    if (g.s->rows)
        g.n = native_size(t, NATIVE_W);
    else if (g.s->across)
        g.n *= native_size(t, NATIVE_C);
    native_ranges(j, t->n / g.n, 16384 / g.n + 1, take_mean, &g);
    native_store_planes(j, 1, g.v);
}

/* --- local response ------------------------------------------------------ */

typedef struct {
    uint32_t size;
    float k, alpha, beta;
} response;

void native_make_lrn(native_maker *m)
{
    response *s = arena_new(m->arena, response);
    uint32_t words[2];

    m->op->state = s;
    check_planes(m);
    s->size = native_u32(m, "the size", 1, MOST);
    words[0] = native_u32(m, "k and alpha", 0, UINT32_MAX);
    words[1] = native_u32(m, "beta", 0, UINT32_MAX);
    s->k = tensor_f16_to_f32((uint16_t)words[0]);
    s->alpha = tensor_f16_to_f32((uint16_t)(words[0] >> 16));
    s->beta = tensor_f16_to_f32((uint16_t)words[1]);
}

typedef struct {
    const native_job *j;
    const float *in;
    float *out;
    const response *s;
    native_shape shape;
    bool planes; /* the window is in the plane */
} response_job;

/* The window around i, cut at the border of n. */
static uint64_t window(const response *s, uint64_t i, uint64_t n, uint64_t *end)
{
    uint64_t before = s->size / 2, first = i > before ? i - before : 0;

    *end = i + s->size - before;
    *end = *end < n ? *end : n;
    return first;
}

static float squares_of_channels(const response_job *g, uint64_t k)
{
    uint64_t plane = (uint64_t)g->shape.d * g->shape.h * g->shape.w, end;
    uint64_t c = k / plane % g->shape.c;
    uint64_t i = window(g->s, c, g->shape.c, &end);
    const float *in = g->in + (k - c * plane);
    float sum = 0;

    for (; i < end; i++)
        sum += in[i * plane] * in[i * plane];
    return sum / (float)g->s->size;
}

static float squares_of_plane(const response_job *g, uint64_t k)
{
    uint64_t w = g->shape.w, x = k % w, y = k / w % g->shape.h, right, bottom;
    uint64_t left = window(g->s, x, w, &right);
    uint64_t top = window(g->s, y, g->shape.h, &bottom);
    const float *in = g->in + (k - y * w - x);
    float sum = 0;

    for (uint64_t b = top; b < bottom; b++)
        for (uint64_t a = left; a < right; a++)
            sum += in[b * w + a] * in[b * w + a];
    return sum / ((float)g->s->size * (float)g->s->size);
}

static void respond(void *arg, uint64_t first, uint64_t end)
{
    const response_job *g = arg;

    for (uint64_t k = first; k < end && !native_stopped(g->j); k++) {
        float squares =
            g->planes ? squares_of_plane(g, k) : squares_of_channels(g, k);
        float base = g->s->k + g->s->alpha * squares;

        g->out[k] = g->in[k] * (float)pow((double)base, -(double)g->s->beta);
    }
}

void native_run_lrn(const native_job *j)
{
    const native_tensor *t = native_of(j, 0);
    response_job g = {j,
                      native_load_planes(j, 0),
                      native_room(j, t->n),
                      j->op->state,
                      native_shape_of(t),
                      j->op->type != LRN};

    native_ranges(j, t->n, 2048, respond, &g);
    native_store_planes(j, 1, g.out);
}
