/* The sample layers with several parameters, inputs or stages against plain C,
 * on even and awkward shapes: bit for bit, or within the units in the last
 * place that the row states.
 *
 * The program is run as a user runs it. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/npy.h"
#include "sim/base/file.h"
#include "tests/kernels/program.h"
#include "tests/kernels/ref_layers.h"

enum { MAX_PARAMS = 5, SEED = 11 };

typedef struct {
    const char *name;
    double value;
} param;

typedef void fill_fn(ref_tensor *t, uint32_t port);

typedef struct {
    const char *folder, *layer;
    ref_layer_fn *compute;
    uint32_t in0[4], in1[4], out[4];
    param params[MAX_PARAMS];
    fill_fn *fill; /* NULL = --input random */
    unsigned ulp;
} sample;

/* --- inputs --------------------------------------------------------------- */

/* Scores whose exponentials span the halves. */
static void fill_wide(ref_tensor *t, uint32_t port)
{
    ref_random(t, port, SEED);
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, 12 * ref_get(t, i));
}

/* Ties: multiples of 1/16 between -2 and 2. */
static void fill_ties(ref_tensor *t, uint32_t port)
{
    (void)port;
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, (float)(i * 7 % 65) / 16 - 2);
}

/* Scores on a coarse grid, so that equal ones occur; and as mask, at port 1,
 * sequences that end one step after another, the last at the end. */
static void fill_steps(ref_tensor *t, uint32_t port)
{
    uint32_t N = t->dims[1];

    ref_random(t, port, SEED);
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i,
                port ? i / N + (N - 1 - i % N) < t->dims[0]
                     : (float)(int)(3 * ref_get(t, i)));
}

/* --- rows ----------------------------------------------------------------- */

#define MVN(eps, ...)          \
    {.folder = "mvn",          \
     .layer = "MVN",           \
     .in0 = {__VA_ARGS__},     \
     .out = {__VA_ARGS__},     \
     .params = {{"eps", eps}}, \
     .compute = ref_mvn}
#define CONV(k, b, c, o, h, w)          \
    {.folder = "convolution" #k "x" #k, \
     .layer = "Convolution" #k "x" #k,  \
     .in0 = {b, c, h, w},               \
     .in1 = {o, c, k, k},               \
     .out = {b, o, h, w},               \
     .compute = ref_convolution##k##x##k}
#define SOFTMAX(axis, how, ...)  \
    {.folder = "softmax",        \
     .layer = "SoftMax",         \
     .compute = ref_softmax,     \
     .in0 = {__VA_ARGS__},       \
     .out = {__VA_ARGS__},       \
     .params = {{"axis", axis}}, \
     .fill = how,                \
     .ulp = 1}
#define QUANTIZE(n, il, ih, ol, oh, how, ...) \
    {.folder = "quantize",                    \
     .layer = "FakeQuantize",                 \
     .compute = ref_quantize,                 \
     .in0 = {__VA_ARGS__},                    \
     .out = {__VA_ARGS__},                    \
     .params = {{"levels", n},                \
                {"in_low", il},               \
                {"in_high", ih},              \
                {"out_low", ol},              \
                {"out_high", oh}},            \
     .fill = how}
#define CORRELATION(b, f, h, w) \
    {.folder = "correlation",   \
     .layer = "Correlation",    \
     .in0 = {b, f, h, w},       \
     .in1 = {b, f, h, w},       \
     .out = {b, 25, h, w},      \
     .compute = ref_correlation}
#define SHUFFLE(groups, ...)        \
    {.folder = "shuffle_channels",  \
     .layer = "ShuffleChannels",    \
     .in0 = {__VA_ARGS__},          \
     .out = {__VA_ARGS__},          \
     .params = {{"group", groups}}, \
     .compute = ref_shuffle}
#define RESAMPLE(b, f, h, w, to_h, to_w) \
    {.folder = "resample",               \
     .layer = "Resample",                \
     .in0 = {b, f, h, w},                \
     .out = {b, f, to_h, to_w},          \
     .compute = ref_resample}
#define RESAMPLE_BY(k, b, f, h, w, to_h, to_w) \
    {.folder = "resample",                     \
     .layer = "ResampleFactor",                \
     .in0 = {b, f, h, w},                      \
     .out = {b, f, to_h, to_w},                \
     .params = {{"factor", k}},                \
     .compute = ref_resample}
#define CTC(t, n, c)              \
    {.folder = "ctc",             \
     .layer = "CTCGreedyDecoder", \
     .in0 = {t, n, c},            \
     .in1 = {t, n},               \
     .out = {n, t, 1, 1},         \
     .compute = ref_ctc,          \
     .fill = fill_steps}
#define COPY(...)               \
    {.folder = "copy_item_dma", \
     .layer = "CopyItemDma",    \
     .in0 = {__VA_ARGS__},      \
     .out = {__VA_ARGS__},      \
     .compute = ref_copy}

static const sample samples[] = {
    MVN(0.001, 1, 16, 16, 24),
    MVN(1e-9, 2, 5, 7, 13),
    MVN(0.5, 3, 1, 1, 8),
    MVN(1.0, 1, 3, 1, 1),
    MVN(0.001, 1, 40, 33, 3),
    CONV(1, 1, 32, 64, 14, 16),
    CONV(1, 2, 7, 3, 5, 13),
    CONV(1, 1, 1, 1, 1, 1),
    CONV(1, 3, 130, 2, 1, 9),
    CONV(1, 1, 3, 17, 2, 40),
    CONV(3, 1, 16, 8, 14, 16),
    CONV(3, 2, 3, 5, 7, 13),
    CONV(3, 1, 1, 1, 1, 1),
    CONV(3, 1, 5, 2, 1, 24),
    CONV(3, 3, 2, 3, 9, 1),
    CONV(3, 1, 2, 2, 2, 2),
    SOFTMAX(1, NULL, 1, 21, 8, 16),
    SOFTMAX(1, fill_wide, 2, 7, 5, 13),
    SOFTMAX(1, fill_wide, 1, 1, 1, 1),
    SOFTMAX(1, fill_wide, 1, 1000, 1, 1),
    SOFTMAX(3, NULL, 1, 4, 16, 40),
    SOFTMAX(3, fill_wide, 2, 3, 5, 13),
    SOFTMAX(3, fill_wide, 1, 1, 1, 999),
    SOFTMAX(3, fill_wide, 3, 2, 8, 1),
    QUANTIZE(16, -1, 1, 0, 15, NULL, 1, 3, 16, 32),
    QUANTIZE(256, -0.75, 0.5, -0.7, 0.45, NULL, 2, 5, 7, 13),
    QUANTIZE(2, 0, 1, -1, 1, fill_ties, 1, 1, 1, 65),
    QUANTIZE(9, -1, 1, -4, 4, fill_ties, 1, 1, 5, 104),
    QUANTIZE(255, -2, 2, 1, -1, fill_ties, 3, 1, 1, 1),
    SHUFFLE(3, 1, 24, 8, 16),
    SHUFFLE(4, 2, 12, 5, 13),
    SHUFFLE(1, 1, 5, 3, 8),
    SHUFFLE(5, 3, 5, 7, 1),
    RESAMPLE(1, 8, 13, 16, 26, 32),
    RESAMPLE(2, 3, 7, 11, 5, 17),
    RESAMPLE(1, 2, 1, 1, 9, 8),
    RESAMPLE(1, 2, 19, 24, 1, 1),
    RESAMPLE_BY(2.5, 1, 3, 6, 8, 15, 20),
    RESAMPLE_BY(0.3, 2, 3, 11, 13, 3, 4),
    RESAMPLE_BY(1.5, 1, 1, 3, 5, 5, 8),
    CORRELATION(1, 16, 12, 32),
    CORRELATION(2, 3, 7, 13),
    CORRELATION(1, 5, 2, 1),
    CORRELATION(1, 1, 1, 3),
    CTC(88, 1, 71),
    CTC(20, 16, 3),
    CTC(7, 5, 2),
    CTC(33, 21, 4),
    CTC(1, 1, 1),
    COPY(1, 3, 16, 512),
    COPY(2, 5, 7, 257),
    COPY(1, 2, 3, 255),
    COPY(3, 1, 5, 1),
    COPY(1, 1, 1, 1000),
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* --- running -------------------------------------------------------------- */

static arena *a;
static char *dir;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static tensor_desc desc_of(const ref_tensor *t)
{
    tensor_desc d = {.dtype = t->is_half ? TENSOR_F16 : TENSOR_F32};

    while (d.rank < 4 && t->dims[d.rank]) {
        d.dims[d.rank] = t->dims[d.rank];
        d.rank++;
    }
    return d;
}

static void give_shape(program_args *p, const char *side, uint32_t port,
                       const ref_tensor *t)
{
    char *s = arena_printf(a, "%s%u=%u", side, port, t->dims[0]);

    for (int i = 1; i < 4 && t->dims[i]; i++)
        s = arena_printf(a, "%sx%u", s, t->dims[i]);
    program_args_add(p, "--shape");
    program_args_add(p, "%s", s);
}

/* Fill input `port` as the program will, and say so on its command line. */
static void give_input(const sample *s, ref_tensor *t, uint32_t port,
                       program_args *p)
{
    tensor file = {.desc = desc_of(t)};
    vpu_error err = {0};
    char *path;

    ref_alloc(t);
    give_shape(p, "in", port, t);
    program_args_add(p, "--input");
    if (!s->fill) {
        ref_random(t, port, SEED);
        program_args_add(p, "%u=random:%d", port, SEED);
        return;
    }
    s->fill(t, port);
    file.data = t->data;
    path = file_join(a, dir, arena_printf(a, "in%u.npy", port));
    ck_assert_int_eq(npy_write(path, &file, &err), VPU_OK);
    program_args_add(p, "%u=%s", port, path);
}

static void check_output(const sample *s, const ref_tensor *want)
{
    tensor_desc d = desc_of(want);
    vpu_error err = {0};
    char text[1024];
    size_t differ;
    tensor got;

    ck_assert_msg(!npy_read(file_join(a, dir, "out0.npy"), a, &got, &err), "%s",
                  err.msg);
    ck_assert_str_eq(tensor_desc_text(a, &got.desc), tensor_desc_text(a, &d));
    differ = ref_compare_ulp(want, got.data, s->ulp, text, sizeof text);
    ck_assert_msg(differ == 0, "%s %s: %zu of %zu elements differ%s", s->layer,
                  tensor_desc_text(a, &d), differ, ref_elements(want), text);
}

START_TEST(layer_equals_plain_c)
{
    const sample *s = &samples[_i];
    ref_tensor in[2] = {{.is_half = true}, {.is_half = true}};
    ref_tensor want = {.is_half = true};
    double values[MAX_PARAMS];
    program_args p;
    int status;
    size_t n;

    memcpy(in[0].dims, s->in0, sizeof s->in0);
    memcpy(in[1].dims, s->in1, sizeof s->in1);
    memcpy(want.dims, s->out, sizeof s->out);
    program_args_init(&p, a, "run",
                      arena_printf(a, "kernels/%s/layer.xml", s->folder),
                      "--layer", s->layer, "--output", dir, NULL);
    give_input(s, &in[0], 0, &p);
    if (in[1].dims[0])
        give_input(s, &in[1], 1, &p);
    give_shape(&p, "out", 0, &want);
    for (int i = 0; i < MAX_PARAMS && s->params[i].name; i++) {
        values[i] = s->params[i].value;
        program_args_add(&p, "--param");
        program_args_add(&p, "%s=%.9g", s->params[i].name, values[i]);
    }
    ref_alloc(&want);
    s->compute(in, values, &want);
    for (int again = 0; again < 2; again++) {
        status = program_run(&p, dir);
        ck_assert_msg(status == 0, "%s: exit status %d: %s", s->layer, status,
                      program_file(a, dir, "stderr", &n));
        check_output(s, &want);
        /* The second time work-groups meet other SHAVEs in another order. */
        remove(file_join(a, dir, "out0.npy"));
        program_args_add(&p, "--shaves=3");
        program_args_add(&p, "--order=reverse");
    }
    ref_free(&want);
    ref_free(&in[1]);
    ref_free(&in[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layers");
    TCase *tc = tcase_create("plain C");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, layer_equals_plain_c, 0, N_SAMPLES);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
