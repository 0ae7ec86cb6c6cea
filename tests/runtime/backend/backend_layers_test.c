/* The sample layers on an OpenCL device (PoCL) against the simulator.
 *
 * Where halves are promoted, arithmetic in half rounds on one side only: each
 * row states how far apart results may be. What only moves, selects or counts
 * is equal bit for bit, and so is float arithmetic without library functions.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"
#include "sim/builtins/routines.h"
#include "tests/runtime/backend/backend_rig.h"

/* Results are close when |a - b| <= relative * |b| + absolute. */
typedef struct {
    const char *folder, *layer, *shapes, *params;
    double relative, absolute;
    uint32_t words; /* of the blob "weights", one half each */
} sample;

#define HALF_ULP 0x1p-10 /* of a number, at most */
#define FLOAT_ULP 0x1p-23

static const sample samples[] = {
    {"grn", "GRN", "in0=1x16x8x16", "bias=1.0", 2 * HALF_ULP, 0, 0},
    {"grn", "GRN", "in0=3x9x7x1", "bias=2.0", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNDma", "in0=2x5x3x24", "bias=0.5", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNDma", "in0=1x4x19x101", "bias=1.0", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNFloat", "in0=2x5x3x24:f32", "bias=0.5", 3 * FLOAT_ULP, 0, 0},
    {"grn", "GRNDmaFloat", "in0=1x16x8x16:f32", "bias=1", 3 * FLOAT_ULP, 0, 0},
    {"grn", "GRNDmaFloat", "in0=3x9x7x1:f32", "bias=1", 3 * FLOAT_ULP, 0, 0},
    {"grn", "GRNRolled", "in0=1x3x5x13", "bias=1", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNVector", "in0=1x16x8x16", "bias=1", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNVector", "in0=1x3x5x13", "bias=1", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNAsync", "in0=2x5x3x64", "bias=0.5", 2 * HALF_ULP, 0, 0},
    {"grn", "GRNAsyncRows", "in0=1x16x8x16", "bias=1 rows=4", 2 * HALF_ULP, 0,
     0},
    {"grn", "GRNAsyncRows", "in0=2x3x15x13", "bias=1 rows=5", 2 * HALF_ULP, 0,
     0},
    {"reorg", "Reorg", "in0=2x5x12x24 out0=2x45x4x8", "stride=3", 0, 0, 0},
    {"reorg", "ReorgClamp", "in0=1x1x21x15 out0=1x9x7x5", "stride=3", 0, 0, 0},
    {"reorg", "ReorgExit", "in0=1x1x21x15 out0=1x9x7x5", "stride=3", 0, 0, 0},
    {"reorg", "ReorgLine", "in0=2x5x12x24 out0=2x45x4x8", "stride=3", 0, 0, 0},
    {"reorg", "ReorgUnrolled", "in0=2x5x12x24 out0=2x45x4x8", "stride=3", 0, 0,
     0},
    {"reorg", "ReorgLast", "in0=2x5x12x24 out0=2x45x4x8", "stride=3", 0, 0, 0},
    {"reorg", "ReorgLastLine", "in0=2x70x6x4 out0=2x280x3x2", "stride=2", 0, 0,
     0},
    {"cvtf32f16", "CvtF32F16", "in0=1x3x7x9:f32 out0=1x3x7x9:f16", "", 0, 0, 0},
    {"cvtf32f16", "CvtF32F16Store", "in0=1x3x7x9:f32 out0=1x3x7x9:f16", "", 0,
     0, 0},
    {"cvtu8f16", "CvtU8F16", "in0=2x3x7x13:u8 out0=2x3x7x13",
     "scale=0.017 bias=-2.1", 0, 0, 0},
    /* 37 and 32 sums in half: each rounds. */
    {"matmul", "MatMul", "in0=32x48 in1=48x16 out0=32x16", "", 0.04, 0.02, 0},
    {"matmul", "MatMulEdge", "in0=17x37 in1=37x5 out0=17x5", "", 0.04, 0.02, 0},
    {"matmul", "MatMulFloat", "in0=32x48:f32 in1=48x16:f32 out0=32x16:f32", "",
     0, 0, 0},
    {"matmul", "MatMulEdgeFloat", "in0=17x37:f32 in1=37x5:f32 out0=17x5:f32",
     "", 0, 0, 0},
    {"mvn", "MVN", "in0=2x5x7x13", "eps=0.000001", 4 * HALF_ULP, 0x1p-12, 0},
    {"convolution1x1", "Convolution1x1",
     "in0=2x7x5x13 in1=3x7x1x1 out0=2x3x5x13", "", 0.02, 0.01, 0},
    {"convolution3x3", "Convolution3x3",
     "in0=2x3x7x13 in1=5x3x3x3 out0=2x5x7x13", "", 0, 0, 0},
    {"convolution3x3", "Convolution3x3Model", "in0=1x3x7x13 out0=1x5x7x13", "",
     0, 0, 5 * 3 * 9},
    {"softmax", "SoftMax", "in0=1x21x8x16", "axis=1", HALF_ULP, 0x1p-24, 0},
    {"softmax", "SoftMax", "in0=2x3x5x13", "axis=3", HALF_ULP, 0x1p-24, 0},
    {"quantize", "FakeQuantize", "in0=2x5x7x13",
     "levels=16 in_low=-1 in_high=1 out_low=0 out_high=15", 0, 0, 0},
    {"shuffle_channels", "ShuffleChannels", "in0=2x12x5x13", "group=4", 0, 0,
     0},
    {"leaky_relu", "LeakyRelu", "in0=2x5x7x13", "negative_slope=0.1", 0, 0, 0},
    {"leaky_relu", "LeakyReluDma", "in0=2x5x3x24", "negative_slope=0.1", 0, 0,
     0},
    {"prelu", "PReLU", "in0=2x5x7x13 in1=1x5x1x1", "", 0, 0, 0},
    {"permute", "Permute", "in0=2x5x7x13 out0=2x7x13x5", "order=0,2,3,1", 0, 0,
     0},
    {"resample", "Resample", "in0=2x3x7x11 out0=2x3x5x17", "", 0, 0, 0},
    {"resample", "ResampleFactor", "in0=1x3x6x8 out0=1x3x15x20", "factor=2.5",
     0, 0, 0},
    {"resample", "ResampleAntialias", "in0=2x3x11x17 out0=2x3x4x5", "", 0, 0,
     0},
    {"spatial_transformer", "SpatialTransformer",
     "in0=3x2x7x11 in1=3x6 out0=3x2x5x13", "", 0, 0, 0},
    {"region", "RegionYolo", "in0=2x36x5x13",
     "num=3 coords=4 classes=7 do_softmax=1", 2 * HALF_ULP, 0x1p-24, 0},
    {"region", "RegionYolo", "in0=1x125x5x13 out0=1x75x5x13",
     "num=5 coords=4 classes=20 do_softmax=0 mask=0,1,2", 2 * HALF_ULP, 0x1p-24,
     0},
    {"prior_grid", "PriorGrid", "in0=3x4 in1=1x8x5x8 in2=1x3x80x128 out0=120x4",
     "stride_y=16 stride_x=0", 2 * HALF_ULP, 0, 0},
    {"binary_convolution", "BinaryConvolution", "in0=2x7x5x13 out0=2x3x5x13",
     "kernel=1,1 threshold=0.25", 0, 0, 3},
    {"binary_convolution", "BinaryConvolution", "in0=2x17x7x13 out0=2x5x7x13",
     "kernel=3,3 threshold=0", 0, 0, 5 * 9 * 2},
    {"correlation", "Correlation", "in0=2x3x7x13 in1=2x3x7x13 out0=2x25x7x13",
     "", 0, 0, 0},
    {"ctc", "CTCGreedyDecoder", "in0=20x16x3 in1=20x16 out0=16x20x1x1", "", 0,
     0, 0},
    {"copy_item_dma", "CopyItemDma", "in0=2x5x7x257", "", 0, 0, 0},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* tests/kernels/cl: every kind of copy, of floats and of halves. */
static const char *const copies[] = {
    "dma_3d",  "dma_widths", "dma_preload_only",     "dma_postwrite_only",
    "copy_3d", "copy_2d",    "copy_rows_and_columns"};
enum { N_COPIES = sizeof copies / sizeof *copies };

static backend_rig r;

static void setup(void)
{
    layer_init(&r);
}

static void teardown(void)
{
    layer_fini(&r);
}

static double value(const graph_buffer *b, const unsigned char *data,
                    uint64_t i)
{
    builtin_half h;
    float f;

    if (b->desc.dtype == TENSOR_F32) {
        memcpy(&f, data + 4 * i, 4);
        return f;
    }
    memcpy(&h, data + 2 * i, 2);
    return (double)h;
}

static void compare(const sample *s, const graph_buffer *b,
                    const unsigned char *want, const unsigned char *got)
{
    uint64_t n = b->bytes / tensor_dtype_bytes(b->desc.dtype), zeros = 0;

    for (uint64_t i = 0; i < n; i++) {
        double w = value(b, want, i), g = value(b, got, i);
        double off = fabs(w - g), may = s->relative * fabs(w) + s->absolute;

        ck_assert_msg((isnan(w) && isnan(g)) || w == g || off <= may,
                      "%s %s: %s[%llu] is %.9g, not %.9g", s->layer, s->shapes,
                      b->name, (unsigned long long)i, g, w);
        zeros += w == 0;
    }
    ck_assert_msg(zeros < n, "%s: nothing but zeros", s->layer);
}

static void write_blob(const sample *s)
{
    uint16_t *words = arena_array(r.arena, uint16_t, s->words);
    tensor t = {.desc = {.dtype = TENSOR_F16, .rank = 1, .dims = {s->words}},
                .data = words};
    char *path = file_join(r.arena, r.dir, "w.npy");
    uint32_t state = 5;

    for (uint32_t i = 0; i < s->words; i++) {
        state = state * 1664525 + 1013904223;
        words[i] = (uint16_t)(state >> 16) & 0xbbff; /* no NaN, below 2 */
    }
    ck_assert(!npy_write(path, &t, &r.err));
    r.blob = arena_printf(r.arena, "weights=%s", path);
}

/* r is bound: run it on both and compare. */
static void check(const sample *s)
{
    backend_result results[8];
    unsigned char *want[32];
    bool halves = false;
    uint64_t n;

    ck_assert_msg(!layer_open(&r, "sim"), "%s", r.err.msg);
    ck_assert_msg(!layer_run(&r, "random:3", NULL), "%s", r.err.msg);
    for (uint32_t i = 0; i < r.graph->n_buffers; i++) {
        const graph_buffer *b = &r.graph->buffers[i];

        halves |= b->desc.dtype == TENSOR_F16 && !b->untyped;
        if (b->role == GRAPH_OUTPUT)
            want[b->port] = layer_read(&r, b->name, &n);
    }
    ck_assert_msg(!layer_open(&r, "opencl"), "%s", r.err.msg);
    ck_assert_msg(!layer_run(&r, "random:3", results), "%s", r.err.msg);
    ck_assert(r.ops->caps(r.self)->timed && r.ops->caps(r.self)->stages);
    halves &= !layer_opencl_has_half(&r);
    ck_assert_int_eq(r.ops->caps(r.self)->promoted, halves);
    ck_assert_int_eq(test_log_count(&r.log, "promoted") > 0, halves);
    for (uint32_t i = 0; i < r.graph->n_buffers; i++) {
        const graph_buffer *b = &r.graph->buffers[i];

        if (b->role == GRAPH_OUTPUT)
            compare(s, b, want[b->port], layer_read(&r, b->name, &n));
    }
    for (uint32_t i = 0; i < r.graph->n_launches; i++)
        ck_assert(results[i].seconds > 0 && results[i].cycles == 0);
}

START_TEST(opencl_agrees_with_sim)
{
    const sample *s = &samples[_i];

    if (s->words)
        write_blob(s);
    layer_bind(&r, arena_printf(r.arena, "kernels/%s/layer.xml", s->folder),
               s->layer, s->shapes, s->params);
    check(s);
}
END_TEST

/* The file with one word for another. */
static char *replaced(const char *path, const char *from, const char *to)
{
    char *text;
    size_t n;
    str out = {0};

    ck_assert(!file_read(path, 1 << 20, r.arena, &text, &n, &r.err));
    for (const char *p = text; *p;) {
        bool here = !strncmp(p, from, strlen(from));

        str_add(&out, here ? to : p, here ? strlen(to) : 1);
        p += here ? strlen(from) : 1;
    }
    text = arena_strdup(r.arena, str_text(&out));
    str_free(&out);
    return text;
}

START_TEST(copies_move_what_they_say)
{
    bool half = _i % 2;
    sample s = {.layer = copies[_i / 2],
                .shapes = half ? "in0=1x6x10x24" : "in0=1x6x10x24:f32"};
    const char *xml = "tests/kernels/cl/dma.xml";

    if (half) {
        layer_file(&r, "dma.cl",
                   replaced("tests/kernels/cl/dma.cl", "float", "half"));
        xml = layer_file(&r, "dma.xml", replaced(xml, "*5*F*4", "*5*F*2"));
    }
    layer_bind(&r, xml, s.layer, s.shapes, "");
    check(&s);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("layers");
    Suite *s = suite_create("backend_layers");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, opencl_agrees_with_sim, 0, N_SAMPLES);
    tcase_add_loop_test(tc, copies_move_what_they_say, 0, 2 * N_COPIES);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
