/* Heads of YOLO networks. */
#include "runtime/native/native_priv.h"

enum { MOST = 1 << 16 };

typedef struct {
    uint32_t classes, coords, anchors;
    bool by_softmax, flat;
} region;

static bool same_shape(native_shape a, native_shape b)
{
    return a.n == b.n && a.c == b.c && a.d == b.d && a.h == b.h && a.w == b.w;
}

void native_make_region(native_maker *m)
{
    region *s = arena_new(m->arena, region);
    uint32_t num, mask;

    m->op->state = s;
    native_need_halves(m);
    native_need_planes(m, 0);
    s->classes = (uint32_t)native_i32(m, "classes", 1, MOST);
    s->coords = (uint32_t)native_i32(m, "coords", 2, MOST);
    num = (uint32_t)native_i32(m, "num", 0, MOST);
    mask = (uint32_t)native_i32(m, "maskSize", 0, MOST);
    s->by_softmax = native_i32(m, "doSoftMax", 0, 1);
    s->anchors = s->by_softmax ? num : mask;
    if (m->st)
        return;
    native_need_size(m, 0, NATIVE_C,
                     (uint64_t)s->anchors * (s->coords + s->classes + 1));
    native_need_elements(m, 1, native_at(m, 0)->n);
    s->flat = !same_shape(native_shape_of(native_at(m, 0)),
                          native_shape_of(native_at(m, 1)));
}

typedef struct {
    const region *s;
    float *v;
    uint64_t plane;
} region_job;

static void softmax(float *v, uint32_t n, uint64_t step)
{
    float most = v[0], sum = 0;

    for (uint32_t i = 1; i < n; i++)
        most = v[i * step] > most ? v[i * step] : most;
    for (uint32_t i = 0; i < n; i++)
        sum += v[i * step] = native_exp(v[i * step] - most);
    for (uint32_t i = 0; i < n; i++)
        v[i * step] /= sum;
}

static void activate(const region_job *g, float *v, uint32_t entry)
{
    for (uint64_t i = 0; i < g->plane; i++)
        v[entry * g->plane + i] = native_sigmoid(v[entry * g->plane + i]);
}

/* An anchor of an image. */
static void run_anchor(void *arg, uint32_t k)
{
    const region_job *g = arg;
    const region *s = g->s;
    uint32_t first = s->coords + 1;
    float *v = g->v + k * (first + s->classes) * g->plane;

    activate(g, v, 0);
    activate(g, v, 1);
    if (s->coords > 1)
        activate(g, v, s->coords);
    for (uint32_t c = 0; c < s->classes && !s->by_softmax; c++)
        activate(g, v, first + c);
    for (uint64_t i = 0; i < g->plane && s->by_softmax; i++)
        softmax(v + first * g->plane + i, s->classes, g->plane);
}

void native_run_region(const native_job *j)
{
    const region *s = j->op->state;
    native_shape in = native_shape_of(native_of(j, 0));
    region_job g = {s, native_load_planes(j, 0), (uint64_t)in.d * in.h * in.w};

    native_each(j, in.n * s->anchors, run_anchor, &g);
    if (s->flat)
        native_store(j, 1, g.v);
    else
        native_store_planes(j, 1, g.v);
}

/* --- ReorgYolo ----------------------------------------------------------- */

void native_make_reorg(native_maker *m)
{
    uint32_t *stride = arena_new(m->arena, uint32_t);
    native_shape in;

    m->op->state = stride;
    native_need_halves(m);
    native_need_planes(m, 0);
    native_need_planes(m, 1);
    *stride = (uint32_t)native_i32(m, "the stride", 1, MOST);
    if (m->st)
        return;
    in = native_shape_of(native_at(m, 0));
    if (in.w % *stride || in.h % *stride ||
        in.c % ((uint64_t)*stride * *stride))
        native_bad(m, "%u channels of %u by %u with a stride of %u", in.c, in.w,
                   in.h, *stride);
    native_need_size(m, 0, NATIVE_D, 1);
    native_need_size(m, 1, NATIVE_D, 1);
    native_need_size(m, 1, NATIVE_W, in.w / *stride);
    native_need_size(m, 1, NATIVE_H, in.h / *stride);
    native_need_size(m, 1, NATIVE_N, in.n);
    native_need_elements(m, 1, native_at(m, 0)->n);
}

/* Input and output are taken as rows without an end: the input as planes that
 * are larger by the stride, the output as planes of the input's size. */
void native_run_reorg(const native_job *j)
{
    uint32_t stride = *(const uint32_t *)j->op->state;
    native_shape in = native_shape_of(native_of(j, 0));
    uint64_t planes = in.c / (stride * stride), image, k = 0;
    const float *from = native_load_planes(j, 0);
    float *to = native_room(j, native_of(j, 0)->n);

    image = (uint64_t)in.c * in.h * in.w;
    for (uint32_t n = 0; n < in.n; n++)
        for (uint32_t c = 0; c < in.c; c++)
            for (uint64_t y = 0; y < in.h; y++)
                for (uint64_t x = 0; x < in.w; x++) {
                    uint64_t at = c / planes;
                    uint64_t row =
                        c % planes * in.h * stride + y * stride + at / stride;

                    to[k++] = from[n * image + row * in.w * stride +
                                   x * stride + at % stride];
                }
    native_store_planes(j, 1, to);
}
