/* Pad: a tensor with a frame. Upsampling: with gaps of zeros. */
#include "runtime/native/native_priv.h"

enum { PAD_DIMS = 4, CONSTANT = 0, EDGE, REFLECT, SYMMETRIC, MOST = 1 << 24 };

typedef struct {
    float value;
    /* Where each index of a dim of the output comes from; -1: the value. */
    uint32_t rank;
    uint32_t in[BLOB_MAX_DIMS], out[BLOB_MAX_DIMS];
    int32_t *from[BLOB_MAX_DIMS];
} pad;

static int64_t positive_rest(int64_t i, int64_t n)
{
    int64_t rest = i % n;

    return rest < 0 ? rest + n : rest;
}

/* The index below n for i, which may be outside. */
static int32_t source_of(uint32_t mode, int64_t i, int64_t n)
{
    int64_t period = mode == REFLECT ? 2 * (n - 1) : 2 * n, at;

    if (i >= 0 && i < n)
        return (int32_t)i;
    if (mode == CONSTANT)
        return -1;
    if (mode == EDGE || n == 1)
        return (int32_t)(i < 0 ? 0 : n - 1);
    at = positive_rest(i, period);
    if (at >= n)
        at = mode == REFLECT ? period - at : period - 1 - at;
    return (int32_t)at;
}

static pad *make_walk(native_maker *m)
{
    const native_tensor *in = native_at(m, 0), *out = native_at(m, 1);
    pad *s = arena_new(m->arena, pad);

    m->op->state = s;
    native_need_halves(m);
    native_need_rank(m, 0, 1, BLOB_MAX_DIMS);
    native_need_rank(m, 1, in->rank, in->rank);
    if (!m->st && in->order != out->order)
        native_bad(m, "from order 0x%x to 0x%x", in->order, out->order);
    if (m->st)
        return s;
    s->rank = in->rank;
    for (uint32_t d = 0; d < in->rank; d++) {
        s->in[d] = in->dims[d];
        s->out[d] = out->dims[d];
        s->from[d] = arena_array(m->arena, int32_t, out->dims[d]);
    }
    return s;
}

void native_make_pad(native_maker *m)
{
    pad *s = make_walk(m);
    uint32_t begin[BLOB_MAX_DIMS] = {0}, end[BLOB_MAX_DIMS] = {0}, mode;

    for (uint32_t d = 0; d < PAD_DIMS; d++) {
        begin[d] = native_u32(m, "a pad at the start", 0, MOST);
        end[d] = native_u32(m, "a pad at the end", 0, MOST);
        if (d >= s->rank && (begin[d] || end[d]))
            native_bad(m, "pad of dim %u, expected %u dims", d, s->rank);
    }
    s->value = native_limit(m, "the value");
    mode = native_u32(m, "the mode", CONSTANT, SYMMETRIC);
    for (uint32_t d = 0; d < s->rank && !m->st; d++) {
        if ((uint64_t)s->in[d] + begin[d] + end[d] != s->out[d])
            native_bad(m, "dim %u is %u and %u and %u for the output's %u", d,
                       s->in[d], begin[d], end[d], s->out[d]);
        for (uint32_t i = 0; i < s->out[d]; i++)
            s->from[d][i] = source_of(mode, (int64_t)i - begin[d], s->in[d]);
    }
}

void native_make_upsampling(native_maker *m)
{
    static const char *const names[] = {"the factor of X", "the factor of Y",
                                        "the factor of Z"};
    pad *s = make_walk(m);
    uint32_t factors[BLOB_MAX_DIMS], begin[BLOB_MAX_DIMS] = {0};
    uint32_t end[BLOB_MAX_DIMS] = {0};

    for (uint32_t d = 0; d < BLOB_MAX_DIMS; d++)
        factors[d] = d < 3 ? (uint32_t)native_i32(m, names[d], 1, MOST) : 1;
    for (uint32_t d = 0; d < 3; d++) {
        begin[d] = (uint32_t)native_i32(m, "a pad at the start", 0, MOST);
        end[d] = (uint32_t)native_i32(m, "a pad at the end", 0, MOST);
    }
    for (uint32_t d = 0; d < s->rank && !m->st; d++) {
        uint64_t filled = (uint64_t)(s->in[d] - 1) * factors[d] + 1;

        if (filled + begin[d] + end[d] != s->out[d])
            native_bad(m,
                       "dim %u of %u by %u with pads %u and %u for the "
                       "output's %u",
                       d, s->in[d], factors[d], begin[d], end[d], s->out[d]);
        for (uint32_t i = 0; i < s->out[d]; i++)
            s->from[d][i] = -1;
        for (uint32_t i = 0; i < s->in[d] && !m->st; i++)
            s->from[d][begin[d] + i * factors[d]] = (int32_t)i;
    }
}

typedef struct {
    const pad *s;
    const float *in;
    float *out;
} job;

/* Rows of the output, a row along the fastest dim. */
static void run_rows(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const pad *s = g->s;

    for (uint64_t k = first; k < end; k++) {
        uint64_t rest = k, at = 0, step = s->in[0];
        float *out = g->out + k * s->out[0];
        bool within = true;

        for (uint32_t d = 1; d < s->rank; rest /= s->out[d++]) {
            int32_t i = s->from[d][rest % s->out[d]];

            within = within && i >= 0;
            at += within ? (uint64_t)i * step : 0;
            step *= s->in[d];
        }
        for (uint32_t x = 0; x < s->out[0]; x++) {
            int32_t i = s->from[0][x];

            out[x] = within && i >= 0 ? g->in[at + (uint64_t)i] : s->value;
        }
    }
}

void native_run_pad(const native_job *j)
{
    const native_tensor *out = native_of(j, 1);
    const pad *s = j->op->state;
    job g = {s, native_load(j, 0), native_room(j, out->n)};

    native_ranges(j, out->n / s->out[0], 16384 / s->out[0] + 1, run_rows, &g);
    native_store(j, 1, g.out);
}

void native_run_upsampling(const native_job *j)
{
    native_run_pad(j);
}
