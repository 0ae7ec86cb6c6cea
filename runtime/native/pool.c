/* Pooling on SHAVEs: of planes, and of three dims. */
#include "runtime/native/native_priv.h"

enum {
    MAX_POOL = 1,
    AVG_POOL = 2,
    GLOBAL_AVG_POOL = 59, /* of 2020; its form is that of the others [I] */
    GLOBAL_MAX_POOL = 60,
    MOST = 65536, /* of a kernel, a stride, a pad */
    ROW_GRAIN = 4096
};

/* Of one dim: sizes of both sides, and the window. */
typedef struct {
    uint32_t in, out, kernel, stride, pad;
    uint32_t pad_end; /* [?] of two dims the record has no pads at the end:
                         those of the start */
} side;

typedef struct {
    side x, y, z;
    bool average, skips_pads;
} pool;

/* The part of a window that is within, and its size with what it has of pads.
 */
typedef struct {
    uint32_t first, end, size;
} window;

static window window_of(const side *s, uint32_t o)
{
    int64_t first = (int64_t)o * s->stride - s->pad;
    int64_t end = first + s->kernel, most = (int64_t)s->in + s->pad_end;
    window w = {0};

    end = end < most ? end : most;
    w.size = end > first ? (uint32_t)(end - first) : 0;
    first = first > 0 ? first : 0;
    end = end < s->in ? end : s->in;
    if (first < end) {
        w.first = (uint32_t)first;
        w.end = (uint32_t)end;
    }
    return w;
}

/* Of the letters in a tensor and its pooled one all others are equal. */
static void check_planes(native_maker *m, bool solid)
{
    native_need_halves(m);
    for (uint32_t i = 0; i < 2; i++)
        native_need_planes(m, i);
    if (m->st)
        return;
    native_need_size(m, 1, NATIVE_C, native_size(native_at(m, 0), NATIVE_C));
    native_need_size(m, 1, NATIVE_N, native_size(native_at(m, 0), NATIVE_N));
    if (!solid)
        native_need_size(m, 1, NATIVE_D,
                         native_size(native_at(m, 0), NATIVE_D));
}

static void take_sizes(const native_maker *m, pool *s)
{
    native_shape in = native_shape_of(native_at(m, 0));
    native_shape out = native_shape_of(native_at(m, 1));

    s->x.in = in.w;
    s->y.in = in.h;
    s->z.in = in.d;
    s->x.out = out.w;
    s->y.out = out.h;
    s->z.out = out.d;
}

void native_make_pool(native_maker *m)
{
    pool *s = arena_new(m->arena, pool);

    m->op->state = s;
    check_planes(m, false);
    s->x.kernel = native_u32(m, "the kernel's width", 1, MOST);
    s->y.kernel = native_u32(m, "the kernel's height", 1, MOST);
    s->x.stride = native_u32(m, "the stride across", 1, MOST);
    s->y.stride = native_u32(m, "the stride down", 1, MOST);
    s->x.pad = native_u32(m, "the pad on the left", 0, MOST);
    s->y.pad = native_u32(m, "the pad on the top", 0, MOST);
    s->skips_pads = native_flag(m, "excludePad");
    s->average = m->op->type == AVG_POOL || m->op->type == GLOBAL_AVG_POOL;
    s->x.pad_end = s->x.pad;
    s->y.pad_end = s->y.pad;
    take_sizes(m, s);
    /* Planes of a third dim are each pooled alone. */
    s->z.kernel = s->z.stride = 1;
}

/* --- three dims ---------------------------------------------------------- */

void native_make_pool_nd(native_maker *m)
{
    pool *s = arena_new(m->arena, pool);
    side *sides[] = {&s->x, &s->y, &s->z};
    uint32_t v[4][3] = {{1, 1, 1}, {0}, {0}, {1, 1, 1}};
    uint32_t rank = native_at(m, 0)->rank, n = rank > 4 ? 3 : 2, rounding;

    m->op->state = s;
    check_planes(m, true);
    native_need_rank(m, 0, 4, 5);
    native_vector(m, "a size of the kernel", 1, MOST, n, v[0]);
    native_vector(m, "a pad at the start", 0, MOST, n, v[1]);
    native_vector(m, "a pad at the end", 0, MOST, n, v[2]);
    native_vector(m, "a stride", 1, MOST, n, v[3]);
    if (native_i32(m, "interleaved", 0, 1))
        native_refuse(m, "interleaved data");
    s->average = native_i32(m, "the method", 1, 2) == 2;
    rounding = native_u32(m, "the rounding", 3, 4); /* seen in the sizes */
    s->skips_pads = native_flag(m, "excludePad");
    (void)rounding;
    take_sizes(m, s);
    for (uint32_t i = 0; i < 3; i++) {
        sides[i]->kernel = v[0][i];
        sides[i]->pad = v[1][i];
        sides[i]->pad_end = v[2][i];
        sides[i]->stride = v[3][i];
    }
}

double native_pool_products(const native_op *op)
{
    const pool *s = op->state;

    return (double)op->tensors[1].n * s->x.kernel * s->y.kernel * s->z.kernel;
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    const native_job *j;
    const pool *s;
    const float *in;
    float *out;
} job;

static float pool_one(const pool *s, const float *in, window x, window y,
                      window z)
{
    float most = -INFINITY, sum = 0;
    uint64_t n = (uint64_t)x.size * y.size * z.size;

    if (x.first >= x.end || y.first >= y.end || z.first >= z.end)
        return 0;
    for (uint32_t c = z.first; c < z.end; c++)
        for (uint32_t b = y.first; b < y.end; b++) {
            const float *row = in + ((uint64_t)c * s->y.in + b) * s->x.in;

            for (uint32_t a = x.first; a < x.end; a++) {
                most = row[a] > most ? row[a] : most;
                sum += row[a];
            }
        }
    if (s->skips_pads)
        n = (uint64_t)(x.end - x.first) * (y.end - y.first) * (z.end - z.first);
    return s->average ? sum / (float)n : most;
}

/* Outputs between two questions whether to go on. */
enum { ASK = 16 };

/* Rows of the output. */
static void run_rows(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const pool *s = g->s;

    for (uint64_t k = first; k < end; k++) {
        uint64_t plane = k / s->y.out, solid = plane / s->z.out;
        window y = window_of(&s->y, (uint32_t)(k % s->y.out));
        window z = window_of(&s->z, (uint32_t)(plane % s->z.out));
        const float *in = g->in + solid * s->z.in * s->y.in * (uint64_t)s->x.in;

        for (uint32_t x = 0; x < s->x.out; x++) {
            if (x % ASK == 0 && native_stopped(g->j))
                return;
            g->out[k * s->x.out + x] =
                pool_one(s, in, window_of(&s->x, x), y, z);
        }
    }
}

void native_run_pool(const native_job *j)
{
    const native_tensor *out = native_of(j, 1);
    pool s = *(const pool *)j->op->state;
    job g = {j, &s, native_load_planes(j, 0), native_room(j, out->n)};
    uint64_t grain = ROW_GRAIN / s.x.out;

    native_ranges(j, out->n / s.x.out, grain ? grain : 1, run_rows, &g);
    native_store_planes(j, 1, g.out);
}

void native_run_pool_nd(const native_job *j)
{
    native_run_pool(j);
}
