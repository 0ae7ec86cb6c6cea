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

#include "base/file.h"
#include "runtime/graph/npy.h"
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
    const char *list; /* another parameter, four numbers behind the others */
    fill_fn *fill;    /* NULL = --input random */
    unsigned ulp;
} sample;

/* --- inputs -------------------------------------------------------------- */

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

/* Every kind of half: subnormal ones, infinities and NaNs among them. */
static void fill_bits(ref_tensor *t, uint32_t port)
{
    uint32_t state = SEED + port;

    for (size_t i = 0; i < ref_elements(t); i++) {
        uint16_t h;

        state = state * 1664525 + 1013904223;
        h = (uint16_t)(state >> 16);
        memcpy((ref_half *)t->data + i, &h, sizeof h);
    }
}

/* Values whose products are subnormal halves, at port 0 some of them too. */
static void fill_tiny(ref_tensor *t, uint32_t port)
{
    ref_random(t, port, SEED);
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, ref_get(t, i) * (port ? 0x1p-5f : 0x1p-12f));
}

/* --- rows ---------------------------------------------------------------- */

#define MVN(how, eps, ...)     \
    {.folder = "mvn",          \
     .layer = "MVN",           \
     .in0 = {__VA_ARGS__},     \
     .out = {__VA_ARGS__},     \
     .params = {{"eps", eps}}, \
     .compute = ref_mvn,       \
     .fill = how}
#define CONV(how, k, b, c, o, h, w)       \
    {.folder = "convolution" #k "x" #k,   \
     .layer = "Convolution" #k "x" #k,    \
     .in0 = {b, c, h, w},                 \
     .in1 = {o, c, k, k},                 \
     .out = {b, o, h, w},                 \
     .compute = ref_convolution##k##x##k, \
     .fill = how}
#define SOFTMAX(how, axis, ...)  \
    {.folder = "softmax",        \
     .layer = "SoftMax",         \
     .compute = ref_softmax,     \
     .in0 = {__VA_ARGS__},       \
     .out = {__VA_ARGS__},       \
     .params = {{"axis", axis}}, \
     .fill = how,                \
     .ulp = 1}
#define QUANTIZE(how, n, il, ih, ol, oh, ...) \
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
#define CORRELATION(how, b, f, h, w) \
    {.folder = "correlation",        \
     .layer = "Correlation",         \
     .in0 = {b, f, h, w},            \
     .in1 = {b, f, h, w},            \
     .out = {b, 25, h, w},           \
     .compute = ref_correlation,     \
     .fill = how}
#define SHUFFLE(how, groups, ...)   \
    {.folder = "shuffle_channels",  \
     .layer = "ShuffleChannels",    \
     .in0 = {__VA_ARGS__},          \
     .out = {__VA_ARGS__},          \
     .params = {{"group", groups}}, \
     .compute = ref_shuffle,        \
     .fill = how}
#define LEAKY(how, l, slope, ...)           \
    {.folder = "leaky_relu",                \
     .layer = l,                            \
     .in0 = {__VA_ARGS__},                  \
     .out = {__VA_ARGS__},                  \
     .params = {{"negative_slope", slope}}, \
     .compute = ref_leaky_relu,             \
     .fill = how}
#define PRELU(how, b, f, h, w) \
    {.folder = "prelu",        \
     .layer = "PReLU",         \
     .in0 = {b, f, h, w},      \
     .in1 = {1, f, 1, 1},      \
     .out = {b, f, h, w},      \
     .compute = ref_prelu,     \
     .fill = how}
#define PERMUTE(how, p, q, r, s, b, f, h, w, ...) \
    {.folder = "permute",                         \
     .layer = "Permute",                          \
     .in0 = {b, f, h, w},                         \
     .out = {__VA_ARGS__},                        \
     .list = "order=" #p "," #q "," #r "," #s,    \
     .compute = ref_permute,                      \
     .fill = how}
#define RESAMPLE(how, b, f, h, w, to_h, to_w) \
    {.folder = "resample",                    \
     .layer = "Resample",                     \
     .in0 = {b, f, h, w},                     \
     .out = {b, f, to_h, to_w},               \
     .compute = ref_resample,                 \
     .fill = how}
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
#define COPY(how, ...)          \
    {.folder = "copy_item_dma", \
     .layer = "CopyItemDma",    \
     .in0 = {__VA_ARGS__},      \
     .out = {__VA_ARGS__},      \
     .compute = ref_copy,       \
     .fill = how}

static const sample samples[] = {
    MVN(NULL, 0.001, 1, 16, 16, 24),
    MVN(NULL, 1e-9, 2, 5, 7, 13),
    MVN(NULL, 0.5, 3, 1, 1, 8),
    MVN(NULL, 1.0, 1, 3, 1, 1),
    MVN(NULL, 0.001, 1, 40, 33, 3),
    CONV(NULL, 1, 1, 32, 64, 14, 16),
    CONV(NULL, 1, 2, 7, 3, 5, 13),
    CONV(NULL, 1, 1, 1, 1, 1, 1),
    CONV(NULL, 1, 3, 130, 2, 1, 9),
    CONV(NULL, 1, 1, 3, 17, 2, 40),
    CONV(NULL, 3, 1, 16, 8, 14, 16),
    CONV(NULL, 3, 2, 3, 5, 7, 13),
    CONV(NULL, 3, 1, 1, 1, 1, 1),
    CONV(NULL, 3, 1, 5, 2, 1, 24),
    CONV(NULL, 3, 3, 2, 3, 9, 1),
    CONV(NULL, 3, 1, 2, 2, 2, 2),
    SOFTMAX(NULL, 1, 1, 21, 8, 16),
    SOFTMAX(fill_wide, 1, 2, 7, 5, 13),
    SOFTMAX(fill_wide, 1, 1, 1, 1, 1),
    SOFTMAX(fill_wide, 1, 1, 1000, 1, 1),
    SOFTMAX(NULL, 3, 1, 4, 16, 40),
    SOFTMAX(fill_wide, 3, 2, 3, 5, 13),
    SOFTMAX(fill_wide, 3, 1, 1, 1, 999),
    SOFTMAX(fill_wide, 3, 3, 2, 8, 1),
    QUANTIZE(NULL, 16, -1, 1, 0, 15, 1, 3, 16, 32),
    QUANTIZE(NULL, 256, -0.75, 0.5, -0.7, 0.45, 2, 5, 7, 13),
    QUANTIZE(fill_ties, 2, 0, 1, -1, 1, 1, 1, 1, 65),
    QUANTIZE(fill_ties, 9, -1, 1, -4, 4, 1, 1, 5, 104),
    QUANTIZE(fill_ties, 255, -2, 2, 1, -1, 3, 1, 1, 1),
    SHUFFLE(NULL, 3, 1, 24, 8, 16),
    SHUFFLE(NULL, 4, 2, 12, 5, 13),
    SHUFFLE(NULL, 1, 1, 5, 3, 8),
    SHUFFLE(NULL, 5, 3, 5, 7, 1),
    LEAKY(NULL, "LeakyRelu", 0.1, 1, 24, 8, 16),
    LEAKY(NULL, "LeakyRelu", 0.01, 2, 3, 7, 13),
    LEAKY(NULL, "LeakyReluDma", 0.1, 1, 16, 12, 24),
    LEAKY(NULL, "LeakyReluDma", -2.5, 2, 3, 7, 13),
    LEAKY(NULL, "LeakyReluDma", 0, 1, 1, 1, 1),
    PRELU(NULL, 1, 24, 8, 16),
    PRELU(NULL, 2, 5, 7, 13),
    PRELU(NULL, 3, 1, 1, 1),
    PERMUTE(NULL, 0, 2, 3, 1, 2, 5, 7, 16, 2, 7, 16, 5),
    PERMUTE(NULL, 0, 3, 1, 2, 1, 16, 9, 8, 1, 8, 16, 9),
    PERMUTE(NULL, 3, 2, 1, 0, 8, 3, 5, 2, 2, 5, 3, 8),
    PERMUTE(NULL, 1, 0, 2, 3, 2, 3, 4, 24, 3, 2, 4, 24),
    PERMUTE(NULL, 0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1),
    RESAMPLE(NULL, 1, 8, 13, 16, 26, 32),
    RESAMPLE(NULL, 2, 3, 7, 11, 5, 17),
    RESAMPLE(NULL, 1, 2, 1, 1, 9, 8),
    RESAMPLE(NULL, 1, 2, 19, 24, 1, 1),
    RESAMPLE_BY(2.5, 1, 3, 6, 8, 15, 20),
    RESAMPLE_BY(0.3, 2, 3, 11, 13, 3, 4),
    RESAMPLE_BY(1.5, 1, 1, 3, 5, 5, 8),
    CORRELATION(NULL, 1, 16, 12, 32),
    CORRELATION(NULL, 2, 3, 7, 13),
    CORRELATION(NULL, 1, 5, 2, 1),
    CORRELATION(NULL, 1, 1, 1, 3),
    CTC(88, 1, 71),
    CTC(20, 16, 3),
    CTC(7, 5, 2),
    CTC(33, 21, 4),
    CTC(1, 1, 1),
    COPY(NULL, 1, 3, 16, 512),
    COPY(NULL, 2, 5, 7, 257),
    COPY(NULL, 1, 2, 3, 255),
    COPY(NULL, 3, 1, 5, 1),
    COPY(NULL, 1, 1, 1, 1000),
    COPY(fill_bits, 1, 3, 16, 300),
    LEAKY(fill_bits, "LeakyRelu", 0.3, 1, 3, 16, 32),
    LEAKY(fill_bits, "LeakyRelu", 0.3, 1, 3, 16, 31),
    LEAKY(fill_bits, "LeakyReluDma", 0.3, 1, 3, 16, 32),
    PRELU(fill_bits, 1, 3, 16, 32),
    PRELU(fill_bits, 1, 3, 16, 31),
    PRELU(fill_tiny, 1, 3, 16, 32),
    PRELU(fill_tiny, 1, 3, 16, 31),
    PERMUTE(fill_bits, 0, 2, 3, 1, 1, 16, 12, 8, 1, 12, 8, 16),
    SHUFFLE(fill_bits, 2, 1, 16, 12, 16),
    RESAMPLE(fill_bits, 1, 2, 24, 24, 30, 40),
    QUANTIZE(fill_bits, 37, -1.5, 3, -7, 12, 1, 3, 16, 32),
    QUANTIZE(fill_bits, 37, -1.5, 3, -7, 12, 1, 3, 16, 31),
    CONV(fill_bits, 1, 1, 4, 16, 12, 16),
    CONV(fill_bits, 1, 1, 4, 16, 12, 15),
    CONV(fill_bits, 3, 1, 2, 16, 12, 16),
    CONV(fill_bits, 3, 1, 2, 16, 12, 15),
    CONV(fill_tiny, 1, 1, 24, 16, 12, 16),
    CONV(fill_tiny, 1, 1, 24, 16, 12, 15),
    CONV(fill_tiny, 3, 1, 24, 4, 12, 16),
    CONV(fill_tiny, 3, 1, 24, 4, 12, 15),
    CORRELATION(fill_tiny, 1, 7, 6, 16),
    MVN(fill_tiny, 1e-9, 1, 8, 12, 16),
    MVN(fill_tiny, 1e-9, 1, 8, 12, 15),
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* --- running ------------------------------------------------------------- */

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

/* The list to the command line, its numbers behind the other values. */
static void give_list(const sample *s, double *values, program_args *p)
{
    const char *number = s->list ? strchr(s->list, '=') : NULL;

    for (size_t n = 0; n < MAX_PARAMS && s->params[n].name; n++)
        values++;
    if (s->list)
        program_args_add(p, "--param=%s", s->list);
    for (; number; number = strchr(number + 1, ','))
        *values++ = strtod(number + 1, NULL);
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
    double values[MAX_PARAMS + 4];
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
    give_list(s, values, &p);
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

/* --- weights of a model -------------------------------------------------- */

#define DIM(n) "<dim>" #n "</dim>"
#define PORT(id, c) \
    "<port id=\"" #id "\">" DIM(1) DIM(c) DIM(9) DIM(24) "</port>"
static const char net[] =
    "<net name=\"n\" version=\"7\" precision=\"FP16\"><layers>"
    "<layer id=\"0\" name=\"in\" type=\"Input\" precision=\"FP16\">"
    "<output>" PORT(
        0, 5) "</output></layer>"
              "<layer id=\"1\" name=\"conv\" type=\"Convolution3x3Model\""
              " precision=\"FP16\"><input>" PORT(
                  0, 5) "</input>"
                        "<output>" PORT(
                            1, 7) "</output>"
                                  "<blobs><weights offset=\"64\" size=\"630\" "
                                  "precision=\"FP16\"/></blobs>"
                                  "</layer></layers><edges>"
                                  "<edge from-layer=\"0\" from-port=\"0\" "
                                  "to-layer=\"1\" to-port=\"0\"/>"
                                  "</edges></net>";

static void write_at(const char *path, long offset, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, offset, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(p, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(weights_of_a_model)
{
    const sample s = CONV(NULL, 3, 1, 5, 7, 9, 24);
    ref_tensor in[2] = {{.dims = {1, 5, 9, 24}, .is_half = true},
                        {.dims = {7, 5, 3, 3}, .is_half = true}};
    ref_tensor want = {.dims = {1, 7, 9, 24}, .is_half = true};
    const char *model = file_join(a, dir, "net.xml");
    program_args p;
    size_t n;
    int status;

    for (uint32_t i = 0; i < 2; i++) {
        ref_alloc(&in[i]);
        ref_random(&in[i], i, SEED);
    }
    write_at(model, 0, net, sizeof net - 1);
    write_at(file_join(a, dir, "net.bin"), 64, in[1].data, ref_bytes(&in[1]));
    program_args_init(&p, a, "run", "kernels/convolution3x3/layer.xml",
                      "--model", model, "--at", "conv", "--output", dir, NULL);
    program_args_add(&p, "--input=0=random:%d", SEED);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "exit status %d: %s", status,
                  program_file(a, dir, "stderr", &n));
    ref_alloc(&want);
    ref_convolution3x3(in, NULL, &want);
    check_output(&s, &want);
    /* The layer's definition gets parameters and weights from the model, too.
     */
    program_args_init(&p, a, "diff", "kernels/convolution3x3/layer.xml",
                      "--model", model, "--at", "conv", "--b",
                      "host:build/plugins/convolution3x3.so", NULL);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "exit status %d: %s%s", status,
                  program_file(a, dir, "stderr", &n),
                  program_file(a, dir, "stdout", &n));
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
    tcase_add_test(tc, weights_of_a_model);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
