/* Hardware operations against loops that follow docs/networks.md, "Hardware
 * operations", literally:
 * sums in float, in the order input channel, row, column. The bits are equal.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime/graph/tensor.h"
#include "runtime/native/native.h"

static arena *a;

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
}

/* --- a stage ------------------------------------------------------------- */

/* A plane of halves: rows at multiples of 16 bytes. */
typedef struct {
    uint32_t w, h, c, row, plane; /* in halves */
    uint16_t *data;
} planes;

typedef struct {
    uint32_t kind, pool_type, mode, pads, pad_mode;
    uint32_t channel, n_channels, kernel_w, kernel_h, stride;
    uint32_t relu, clamp;
    int32_t t0, a0, a1;
    float clamp_max;
    bool biases, scales;
} operation;

typedef struct {
    planes in, out;
    uint32_t n_out; /* channels, a multiple of 8 for weights */
    uint16_t *weights, *biases, *scales;
    operation op;
} problem;

static uint32_t state;

static uint32_t roll(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(state >> 8) * n >> 24);
}

static uint16_t half(float f)
{
    return tensor_f32_to_f16(f);
}

static float value(void)
{
    return ((float)roll(2001) - 1000) / 500;
}

static planes make_planes(uint32_t w, uint32_t h, uint32_t c)
{
    planes p = {w, h, c, (w + 7 + 8 * roll(2)) / 8 * 8, 0, NULL};

    p.plane = p.row * h;
    p.data = arena_array(a, uint16_t, (size_t)p.plane *c + 64);
    for (uint32_t i = 0; i < p.plane * c; i++)
        p.data[i] = half(value());
    return p;
}

/* --- what it should be --------------------------------------------------- */

static float at(const planes *p, uint32_t c, int64_t y, int64_t x, float beside)
{
    if (y < 0 || x < 0 || y >= p->h || x >= p->w)
        return beside;
    return tensor_f16_to_f32(
        p->data[c * p->plane + (uint32_t)y * p->row + (uint32_t)x]);
}

static float weight(const problem *q, uint32_t o, uint32_t i, uint32_t k)
{
    uint32_t n = q->op.kernel_w * q->op.kernel_h;

    return tensor_f16_to_f32(
        q->weights[o % 8 + 8 * k + 8 * n * i + 8 * n * q->in.c * (o / 8)]);
}

static float convolved(const problem *q, uint32_t o, uint32_t y, uint32_t x)
{
    const operation *p = &q->op;
    int64_t left = p->pads ? p->kernel_w / 2 : 0;
    int64_t top = p->pads ? p->kernel_h / 2 : 0;
    float sum = 0;

    for (uint32_t i = 0; i < q->in.c; i++)
        for (uint32_t ky = 0; ky < p->kernel_h; ky++)
            for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
                float w = weight(q, o, i, ky * p->kernel_w + kx);

                if (w != 0)
                    sum += w * at(&q->in, i, (int64_t)y * p->stride - top + ky,
                                  (int64_t)x * p->stride - left + kx, 0);
            }
    return sum;
}

static float pooled(const problem *q, uint32_t o, uint32_t y, uint32_t x)
{
    const operation *p = &q->op;
    bool max = p->pool_type == 0;
    int64_t left = max ? (p->pad_mode & 8 ? p->kernel_w / 2 : 0)
                       : (p->pads ? p->kernel_w / 2 : 0);
    int64_t top = max ? (p->pad_mode & 4 ? p->kernel_h / 2 : 0)
                      : (p->pads ? p->kernel_h / 2 : 0);
    float v = max ? -INFINITY : 0;

    for (uint32_t ky = 0; ky < p->kernel_h; ky++)
        for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
            float e =
                at(&q->in, o, (int64_t)y * p->stride - top + ky,
                   (int64_t)x * p->stride - left + kx, max ? -INFINITY : 0);

            v = !max ? v + e : e > v ? e : v;
        }
    return max ? v : v / (float)(p->kernel_w * p->kernel_h);
}

static uint16_t finished(const problem *q, uint32_t o, float v)
{
    const operation *p = &q->op;
    uint16_t h;

    if (p->biases)
        v += tensor_f16_to_f32(q->biases[o]);
    if (p->scales)
        v *= tensor_f16_to_f32(q->scales[o]);
    h = half(v);
    v = tensor_f16_to_f32(h);
    if (p->relu)
        h = v < (float)p->t0 && !p->a0
                ? 0
                : half(v * (float)(v < (float)p->t0 ? p->a0 : p->a1));
    if (p->clamp)
        h = half(v < 0 ? 0 : v > p->clamp_max ? p->clamp_max : v);
    return isnan(tensor_f16_to_f32(h)) ? 0x7e00 : h;
}

static uint16_t expected(const problem *q, uint32_t o, uint32_t y, uint32_t x)
{
    uint16_t best = 0;

    if (q->op.kind == 4)
        return finished(q, o, pooled(q, o, y, x));
    if (q->op.kind == 0)
        return finished(q, o, convolved(q, o, y, x));
    for (uint32_t k = 0; k < 4; k++) {
        uint16_t h =
            finished(q, o, convolved(q, o, 2 * y + k / 2, 2 * x + k % 2));

        if (!k || tensor_f16_to_f32(h) > tensor_f16_to_f32(best))
            best = h;
    }
    return best;
}

/* --- as a record --------------------------------------------------------- */

static blob_buffer buffer(uint32_t rank, const uint32_t *dims,
                          const uint32_t *strides, uint32_t order)
{
    blob_buffer f = {.desc = {.type = BLOB_F16,
                              .order = order,
                              .rank = rank,
                              .dims_location = BLOB_CONST,
                              .strides_location = BLOB_CONST},
                     .location = BLOB_BSS};

    memcpy(f.desc.dims, dims, rank * sizeof *dims);
    memcpy(f.desc.strides, strides, rank * sizeof *strides);
    return f;
}

static blob_buffer planes_buffer(const planes *p)
{
    return buffer(
        4, (uint32_t[]){p->w, p->h, p->c, 1},
        (uint32_t[]){2, 2 * p->row, 2 * p->plane, 2 * p->plane * p->c}, 0x4321);
}

static uint32_t bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    return u;
}

typedef struct {
    uint32_t words[64], n;
    blob_buffer buffers[5];
    void *data[5];
    blob_stage stage;
    blob b;
} record;

static void put(record *r, uint32_t v)
{
    r->words[r->n++] = v;
}

static int32_t add_buffer(record *r, blob_buffer f, void *data)
{
    r->buffers[r->stage.n_buffers] = f;
    r->data[r->stage.n_buffers] = data;
    return (int32_t)r->stage.n_buffers++;
}

static void fill(record *r, const problem *q)
{
    const operation *p = &q->op;
    uint32_t n = p->kernel_w * p->kernel_h, blocks = q->n_out / 8;
    int32_t in, weights = -1, biases = -1, scales = -1, out;

    memset(r, 0, sizeof *r);
    r->b = (blob){.major = 6, .bss_size = 1u << 30, .n_slices = 9};
    in = add_buffer(r, planes_buffer(&q->in), q->in.data);
    if (p->kind != 4)
        weights = add_buffer(
            r,
            buffer(4, (uint32_t[]){8, n, q->in.c, blocks},
                   (uint32_t[]){2, 16, 16 * n, 16 * n * q->in.c}, 0x4321),
            q->weights);
    if (p->biases)
        biases = add_buffer(r, buffer(1, &q->n_out, (uint32_t[]){2}, 0x3),
                            q->biases);
    if (p->scales)
        scales = add_buffer(r, buffer(1, &q->n_out, (uint32_t[]){2}, 0x3),
                            q->scales);
    out = add_buffer(r, planes_buffer(&q->out), q->out.data);
    put(r, 1);
    put(r, p->kind);
    if (p->kind == 4)
        put(r, p->pool_type);
    put(r, p->mode);
    put(r, p->pads);
    if (p->pads)
        put(r, p->pad_mode);
    put(r, (uint32_t)in), put(r, (uint32_t)out), put(r, (uint32_t)weights);
    put(r, (uint32_t)biases), put(r, (uint32_t)scales);
    put(r, p->channel), put(r, p->n_channels);
    put(r, p->kernel_w), put(r, p->kernel_h), put(r, p->stride);
    if (p->kind == 1)
        put(r, 2), put(r, 2);
    put(r, p->relu);
    if (p->relu)
        put(r, (uint32_t)p->t0), put(r, (uint32_t)p->a0),
            put(r, (uint32_t)p->a1);
    put(r, p->clamp);
    if (p->clamp)
        put(r, bits(p->clamp_max));
    put(r, 0), put(r, 0), put(r, 0);
    r->stage.type = 38;
    r->stage.params = r->words;
    r->stage.n_params = r->n;
    r->stage.buffers = r->buffers;
}

static void run(const problem *q)
{
    vpu_error err = {0};
    native_op *op;
    record r;

    fill(&r, q);
    ck_assert_msg(native_make(&r.b, &r.stage, a, &op, &err) == VPU_OK, "%s",
                  err.msg);
    native_run(op, r.data, a, NULL);
}

static void compare(const problem *q, const uint16_t *before)
{
    const operation *p = &q->op;

    for (uint32_t o = 0; o < q->out.c; o++)
        for (uint32_t y = 0; y < q->out.h; y++)
            for (uint32_t x = 0; x < q->out.w; x++) {
                uint32_t k = o * q->out.plane + y * q->out.row + x;
                bool ours = o >= p->channel && o < p->channel + p->n_channels;

                ck_assert_msg(
                    q->out.data[k] == (ours ? expected(q, o, y, x) : before[k]),
                    "channel %u row %u column %u: %04x, expected %04x; kind %u "
                    "kernel %ux%u stride %u pads %u %u",
                    o, y, x, q->out.data[k],
                    ours ? expected(q, o, y, x) : before[k], p->kind,
                    p->kernel_w, p->kernel_h, p->stride, p->pads, p->pad_mode);
            }
    /* What lies between rows stays. */
    for (uint32_t k = 0; k < q->out.plane * q->out.c; k++)
        if (k % q->out.row >= q->out.w)
            ck_assert_uint_eq(q->out.data[k], before[k]);
}

static void try(const problem *q)
{
    size_t n = (size_t)q->out.plane * q->out.c;
    uint16_t *before = arena_memdup(a, q->out.data, n * 2);

    run(q);
    compare(q, before);
}

/* --- problems ------------------------------------------------------------ */

static void make_constants(problem *q, uint32_t share)
{
    uint32_t n = q->n_out * q->in.c * q->op.kernel_w * q->op.kernel_h;

    q->weights = arena_array(a, uint16_t, n);
    q->biases = arena_array(a, uint16_t, q->n_out);
    q->scales = arena_array(a, uint16_t, q->n_out);
    for (uint32_t i = 0; i < n; i++)
        q->weights[i] = roll(100) < share ? half(value()) : 0;
    for (uint32_t i = 0; i < q->n_out; i++) {
        q->biases[i] = half(value());
        q->scales[i] = half(value());
    }
}

static problem convolution(uint32_t kind, uint32_t share)
{
    problem q = {.op = {.kind = kind,
                        .mode = roll(5),
                        .pads = roll(2),
                        .kernel_w = 1 + roll(5),
                        .kernel_h = 1 + roll(5),
                        .stride = kind ? 1 : 1 + roll(3),
                        .biases = roll(2),
                        .scales = roll(2),
                        .relu = roll(2),
                        .a1 = 1}};
    uint32_t out_c = 1 + roll(40);

    q.in = make_planes(6 + roll(30), 6 + roll(12), 1 + roll(20));
    q.out = make_planes(1 + roll(30), 1 + roll(12), out_c);
    q.n_out = (out_c + 7) / 8 * 8;
    q.op.channel = roll(2) ? 0 : roll(out_c);
    q.op.n_channels = 1 + roll(out_c - q.op.channel);
    if (q.op.relu && roll(2)) {
        q.op.a0 = 1;
        q.op.a1 = 10;
    }
    if (!q.op.relu && roll(2)) {
        q.op.clamp = 1;
        q.op.clamp_max = 1.5f;
    }
    make_constants(&q, share);
    return q;
}

START_TEST(convolutions_at_random)
{
    state = (uint32_t)_i + 1;
    for (int n = 0; n < 12; n++) {
        problem q = convolution((uint32_t)_i % 2, 100);

        try(&q);
    }
}
END_TEST

/* Tiles of a depthwise convolution: most weights are 0. */
START_TEST(convolutions_with_few_weights)
{
    state = (uint32_t)_i + 100;
    for (int n = 0; n < 12; n++) {
        problem q = convolution((uint32_t)_i % 2, 3);

        try(&q);
    }
}
END_TEST

/* Whole channels without weights hold what is no number, as the memory that a
 * channel extension reads may; so do some that count. */
START_TEST(memory_that_holds_no_numbers)
{
    state = (uint32_t)_i + 200;
    for (int n = 0; n < 8; n++) {
        problem q = convolution(0, 100);
        uint32_t size = 8 * q.op.kernel_w * q.op.kernel_h;

        for (uint32_t o = 0; o < q.n_out / 8; o++)
            memset(q.weights + ((size_t)o * q.in.c + q.in.c - 1) * size, 0,
                   size * 2);
        for (uint32_t k = 0; k < q.in.plane; k++)
            q.in.data[(q.in.c - 1) * q.in.plane + k] = 0x7e01 + k % 3;
        if (n % 2)
            q.in.data[roll(q.in.plane)] = roll(2) ? 0x7c00 : 0xfe00;
        try(&q);
    }
}
END_TEST

START_TEST(poolings_at_random)
{
    state = (uint32_t)_i + 300;
    for (int n = 0; n < 16; n++) {
        problem q = {.op = {.kind = 4,
                            .pool_type = roll(2),
                            .mode = 4,
                            .pads = roll(2),
                            .kernel_w = 1 + roll(4),
                            .kernel_h = 1 + roll(4),
                            .stride = 1 + roll(3),
                            .relu = roll(2),
                            .a1 = 1}};
        uint32_t c = 1 + roll(20);

        q.op.pad_mode = q.op.pads && !q.op.pool_type ? roll(16) : 0;
        q.in = make_planes(6 + roll(60), 6 + roll(12), c);
        q.out = make_planes(1 + roll(60), 1 + roll(12), c);
        q.n_out = (c + 7) / 8 * 8;
        q.op.channel = roll(c);
        q.op.n_channels = 1 + roll(c - q.op.channel);
        try(&q);
    }
}
END_TEST

/* --- records that are wrong ---------------------------------------------- */

static vpu_status made(record *r, vpu_error *err)
{
    native_op *op;

    return native_make(&r->b, &r->stage, a, &op, err);
}

/* Every word of a record, with values that mean nothing or too much: an error,
 * or a stage that still runs within its memory. */
START_TEST(every_word_is_looked_at)
{
    static const uint32_t values[] = {0,  1,   2,     3,          5,
                                      17, 255, 65536, 0x7fffffff, 0xffffffff};
    problem q;
    record r;

    state = 4711;
    q = convolution(0, 100);
    for (uint32_t i = 0; i < 30; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            vpu_error err = {0};
            vpu_status st;

            fill(&r, &q);
            if (i >= r.n)
                continue;
            r.words[i] = values[k];
            st = made(&r, &err);
            ck_assert(st == VPU_OK || st == VPU_ERR_PARSE ||
                      st == VPU_ERR_UNSUPPORTED);
            ck_assert(!st || strlen(err.msg) > 10);
        }
}
END_TEST

static void expect_bad(record *r, vpu_status wanted, const char *text)
{
    vpu_error err = {0};
    vpu_status st = made(r, &err);

    ck_assert_msg(st == wanted, "%d: %s", st, err.msg);
    ck_assert_msg(strstr(err.msg, text), "%s", err.msg);
}

START_TEST(records_that_are_refused)
{
    problem q;
    record r;

    state = 5;
    q = convolution(0, 100);
    q.op.relu = q.op.clamp = 0;
    fill(&r, &q);
    r.words[1] = 2;
    expect_bad(&r, VPU_ERR_PARSE, "MyriadXHwOp");
    fill(&r, &q);
    r.words[1] = 3;
    expect_bad(&r, VPU_ERR_PARSE, "opType is 3");
    fill(&r, &q);
    r.stage.n_params -= 2;
    expect_bad(&r, VPU_ERR_PARSE, "params");
    fill(&r, &q);
    r.buffers[0].desc.dims[2]--; /* weights have one channel more */
    expect_bad(&r, VPU_ERR_PARSE, "weights are");
    fill(&r, &q);
    r.buffers[0].desc.order = 0x4213;
    expect_bad(&r, VPU_ERR_PARSE, "expected NCHW");
    fill(&r, &q);
    r.buffers[r.stage.n_buffers - 1].location = BLOB_CONST;
    r.b.n_constants = 1u << 30;
    expect_bad(&r, VPU_ERR_PARSE, "is written at location const");
    fill(&r, &q);
    r.b.bss_size = 64;
    expect_bad(&r, VPU_ERR_PARSE, "expected them within 64");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hardware operations");
    TCase *t = tcase_create("hw");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, convolutions_at_random, 0, 8);
    tcase_add_loop_test(t, convolutions_with_few_weights, 0, 6);
    tcase_add_loop_test(t, memory_that_holds_no_numbers, 0, 4);
    tcase_add_loop_test(t, poolings_at_random, 0, 6);
    tcase_add_test(t, every_word_is_looked_at);
    tcase_add_test(t, records_that_are_refused);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
