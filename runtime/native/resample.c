/* Interp and Resample: planes of another size. */
#include "runtime/native/native_priv.h"

enum {
    INTERP = 67,
    HALF_PIXEL = 0,
    PYTORCH_HALF_PIXEL,
    ASYMMETRIC,
    TF_HALF_PIXEL,
    ALIGN_CORNERS,
    N_COORDS,
    PREFER_FLOOR = 0,
    PREFER_CEIL,
    FLOOR,
    CEIL,
    SIMPLE
};

/* An index of an output's dim: the inputs' below and above, and the share of
 * the latter. */
typedef struct {
    uint32_t low, high;
    float share;
} mix;

typedef struct {
    mix *x, *y;
    uint32_t in_w, in_h, out_w, out_h;
} resample;

/* --- making -------------------------------------------------------------- */

/* Where the middle of output o lies among n elements of the input. */
static double position(uint32_t coord, uint32_t o, uint32_t n, uint32_t of)
{
    switch (coord) {
    case ALIGN_CORNERS:
        return of > 1 ? (double)o * (n - 1) / (of - 1) : 0;
    case ASYMMETRIC:
        return (double)o * n / of;
    case TF_HALF_PIXEL:
        return (2.0 * o + 1) * n / (2.0 * of);
    case PYTORCH_HALF_PIXEL:
        if (of == 1)
            return 0;
        break;
    }
    return (2.0 * o + 1) * n / (2.0 * of) - 0.5;
}

static mix linear(uint32_t coord, uint32_t o, uint32_t n, uint32_t of)
{
    double at = position(coord, o, n, of);
    mix v = {0};

    at = at < 0 ? 0 : at;
    v.low = at < n - 1 ? (uint32_t)at : n - 1;
    v.high = v.low + 1 < n ? v.low + 1 : n - 1;
    v.share = (float)(at - v.low);
    return v;
}

static mix nearest(uint32_t coord, uint32_t mode, uint32_t o, uint32_t n,
                   uint32_t of)
{
    double at = position(coord, o, n, of);
    mix v = {0};

    switch (mode) {
    case PREFER_FLOOR:
        at = ceil(at - 0.5);
        break;
    case PREFER_CEIL:
        at = floor(at + 0.5);
        break;
    case CEIL:
        at = ceil(at);
        break;
    case SIMPLE:
        at = of < n ? ceil(at) : floor(at);
        break;
    default:
        at = floor(at);
    }
    v.low = at < 0 ? 0 : at > n - 1 ? n - 1 : (uint32_t)at;
    v.high = v.low;
    return v;
}

static void check_planes(native_maker *m)
{
    const native_tensor *in = native_at(m, 0);

    native_need_halves(m);
    for (uint32_t i = 0; i < 2; i++)
        native_need_planes(m, i);
    if (m->st)
        return;
    native_need_size(m, 1, NATIVE_C, native_size(in, NATIVE_C));
    native_need_size(m, 1, NATIVE_N, native_size(in, NATIVE_N));
    native_need_size(m, 1, NATIVE_D, native_size(in, NATIVE_D));
}

static mix *mixes(native_maker *m, bool is_linear, uint32_t coord,
                  uint32_t mode, uint32_t n, uint32_t of)
{
    mix *v = arena_array(m->arena, mix, of);

    for (uint32_t o = 0; o < of; o++)
        v[o] = is_linear ? linear(coord, o, n, of)
                         : nearest(coord, mode, o, n, of);
    return v;
}

static void take(native_maker *m, bool is_linear, uint32_t coord, uint32_t mode)
{
    native_shape in = native_shape_of(native_at(m, 0));
    native_shape out = native_shape_of(native_at(m, 1));
    resample *s = arena_new(m->arena, resample);

    m->op->state = s;
    if (m->st)
        return;
    *s = (resample){mixes(m, is_linear, coord, mode, in.w, out.w),
                    mixes(m, is_linear, coord, mode, in.h, out.h),
                    in.w,
                    in.h,
                    out.w,
                    out.h};
}

void native_make_interp(native_maker *m)
{
    bool corners = native_flag(m, "align_corners");
    uint32_t mode = native_u32(m, "the mode", 0, 3);
    uint32_t coord = native_u32(m, "the coordinates' mode", 0, N_COORDS - 1);

    check_planes(m);
    if (mode != 1 && mode != 3)
        native_refuse(m, "mode %u, expected 1 or 3", mode);
    take(m, true, corners ? ALIGN_CORNERS : coord, 0);
}

void native_make_resample(native_maker *m)
{
    const native_tensor *in = native_at(m, 0), *out = native_at(m, 1);
    bool smooth = native_flag(m, "antialias");
    uint32_t type, coord, mode;

    native_f32(m, "the factor"); /* seen in the sizes */
    type = native_u32(m, "the type", 0, 2);
    coord = native_u32(m, "the coordinates' mode", 0, N_COORDS - 1);
    mode = native_u32(m, "the mode", 0, SIMPLE);
    check_planes(m);
    if (type)
        native_refuse(m, "type %u, expected 0", type);
    if (smooth && (native_size(out, NATIVE_W) < native_size(in, NATIVE_W) ||
                   native_size(out, NATIVE_H) < native_size(in, NATIVE_H)))
        native_refuse(m, "antialias of a smaller plane");
    take(m, false, coord, mode);
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const resample *s;
    const float *in;
    float *out;
    bool is_linear;
} job;

static void linear_row(const resample *s, const float *in, const mix *y,
                       float *out)
{
    const float *low = in + (uint64_t)y->low * s->in_w;
    const float *high = in + (uint64_t)y->high * s->in_w;

    for (uint32_t x = 0; x < s->out_w; x++) {
        const mix *v = &s->x[x];
        float a = low[v->low] * (1 - v->share) + low[v->high] * v->share;
        float b = high[v->low] * (1 - v->share) + high[v->high] * v->share;

        out[x] = a * (1 - y->share) + b * y->share;
    }
}

static void run_rows(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const resample *s = g->s;

    for (uint64_t k = first; k < end; k++) {
        const float *in = g->in + k / s->out_h * s->in_h * (uint64_t)s->in_w;
        const mix *y = &s->y[k % s->out_h];
        float *out = g->out + k * s->out_w;

        if (g->is_linear) {
            linear_row(s, in, y, out);
            continue;
        }
        in += (uint64_t)y->low * s->in_w;
        for (uint32_t x = 0; x < s->out_w; x++)
            out[x] = in[s->x[x].low];
    }
}

void native_run_resample(const native_job *j)
{
    const resample *s = j->op->state;
    const native_tensor *out = native_of(j, 1);
    job g = {s, native_load_planes(j, 0), native_room(j, out->n),
             j->op->type == INTERP};

    native_ranges(j, out->n / s->out_w, 16384 / s->out_w + 1, run_rows, &g);
    native_store_planes(j, 1, g.out);
}

void native_run_interp(const native_job *j)
{
    native_run_resample(j);
}
