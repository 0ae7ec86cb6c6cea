/* The host backend: the sample layers' plug-ins against the simulator, and
 * plug-ins that cannot be loaded, crash, hang or misbehave. */
#include "runtime/backend/ops.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/diff/compare.h"
#include "tests/kernels/program.h"
#include "tests/runtime/backend/bound.h"

static arena *a;
static char *dir;
static vpu_error err;
static bound b;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
    memset(&err, 0, sizeof err);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

/* --- samples ------------------------------------------------------------- */

#define SAME(f, l, shape, ...)                                         \
    {                                                                  \
        .folder = f, .layer = l, .shapes = {"in0=" shape}, .params = { \
            __VA_ARGS__                                                \
        }                                                              \
    }
#define TWO(f, l, in0, in1, out)             \
    {                                        \
        .folder = f, .layer = l, .shapes = { \
            "in0=" in0,                      \
            "in1=" in1,                      \
            "out0=" out                      \
        }                                    \
    }
#define REORG(l)                                   \
    {.folder = "reorg",                            \
     .layer = l,                                   \
     .shapes = {"in0=2x5x8x24", "out0=2x20x4x12"}, \
     .params = {"stride=2"}}
#define RESAMPLE(l, ...)                                         \
    {                                                            \
        .folder = "resample", .layer = l,                        \
        .shapes = {"in0=2x3x6x8", "out0=2x3x15x20"}, .params = { \
            __VA_ARGS__                                          \
        }                                                        \
    }
#define REGION(out, ...)                                                \
    {                                                                   \
        .folder = "region", .layer = "RegionYolo",                      \
        .shapes = {"in0=2x60x5x13", "out0=2x" out "x5x13"}, .params = { \
            "num=5",                                                    \
            "coords=4",                                                 \
            "classes=7",                                                \
            __VA_ARGS__                                                 \
        }                                                               \
    }
#define BINARY(k, c, words)                             \
    {.folder = "binary_convolution",                    \
     .layer = "BinaryConvolution",                      \
     .shapes = {"in0=2x" #c "x5x13", "out0=2x3x5x13"},  \
     .params = {"kernel=" #k "," #k, "threshold=0.25"}, \
     .blob_words = words}

static const struct {
    bound_request q;
    uint64_t ulp;
} samples[] = {
    {SAME("grn", "GRN", "2x5x3x24", "bias=0.5"), 0},
    {SAME("grn", "GRNDma", "1x16x3x24", "bias=1"), 0},
    {SAME("grn", "GRNFloat", "1x7x3x24:f32", "bias=1"), 0},
    {SAME("grn", "GRNDmaFloat", "2x7x3x24:f32", "bias=1"), 0},
    {SAME("grn", "GRNRolled", "2x5x3x13", "bias=1"), 0},
    {SAME("grn", "GRNVector", "1x5x3x13", "bias=1"), 0},
    {SAME("grn", "GRNAsync", "2x5x3x13", "bias=1"), 0},
    {SAME("grn", "GRNAsyncRows", "2x5x9x13", "bias=1", "rows=3"), 0},
    {REORG("Reorg"), 0},
    {REORG("ReorgClamp"), 0},
    {REORG("ReorgExit"), 0},
    {REORG("ReorgLine"), 0},
    {REORG("ReorgUnrolled"), 0},
    {REORG("ReorgLast"), 0},
    {REORG("ReorgLastLine"), 0},
    {{.folder = "cvtf32f16",
      .layer = "CvtF32F16",
      .shapes = {"in0=1x3x7x9:f32", "out0=1x3x7x9:f16"}},
     0},
    {{.folder = "cvtf32f16",
      .layer = "CvtF32F16Store",
      .shapes = {"in0=1x3x7x9:f32", "out0=1x3x7x9:f16"}},
     0},
    {TWO("matmul", "MatMul", "16x48", "48x32", "16x32"), 0},
    {TWO("matmul", "MatMulFloat", "16x48:f32", "48x32:f32", "16x32:f32"), 0},
    {TWO("matmul", "MatMulEdge", "17x33", "33x15", "17x15"), 0},
    {TWO("matmul", "MatMulEdgeFloat", "3x33:f32", "33x5:f32", "3x5:f32"), 0},
    {SAME("mvn", "MVN", "2x5x7x13", "eps=0.001"), 0},
    {SAME("softmax", "SoftMax", "2x7x5x13", "axis=1"), 1},
    {SAME("softmax", "SoftMax", "2x7x5x13", "axis=3"), 1},
    {SAME("quantize", "FakeQuantize", "2x5x7x13", "levels=37", "in_low=-0.75",
          "in_high=0.5", "out_low=-7", "out_high=12"),
     0},
    {TWO("convolution1x1", "Convolution1x1", "2x7x5x13", "3x7x1x1", "2x3x5x13"),
     0},
    {TWO("convolution3x3", "Convolution3x3", "2x3x7x13", "5x3x3x3", "2x5x7x13"),
     0},
    {{.folder = "convolution3x3",
      .layer = "Convolution3x3Model",
      .shapes = {"in0=1x3x7x13", "out0=1x5x7x13"},
      .blob_words = 135},
     0},
    {TWO("correlation", "Correlation", "2x3x7x13", "2x3x7x13", "2x25x7x13"), 0},
    {SAME("copy_item_dma", "CopyItemDma", "2x5x7x257"), 0},
    {SAME("shuffle_channels", "ShuffleChannels", "2x12x5x13", "group=4"), 0},
    {SAME("leaky_relu", "LeakyRelu", "2x5x7x13", "negative_slope=0.1"), 0},
    {SAME("leaky_relu", "LeakyReluDma", "2x5x7x13", "negative_slope=0.1"), 0},
    {TWO("prelu", "PReLU", "2x5x7x13", "1x5x1x1", "2x5x7x13"), 0},
    {{.folder = "permute",
      .layer = "Permute",
      .shapes = {"in0=2x5x7x13", "out0=2x7x13x5"},
      .params = {"order=0,2,3,1"}},
     0},
    {RESAMPLE("Resample"), 0},
    {RESAMPLE("ResampleFactor", "factor=2.5"), 0},
    {RESAMPLE("ResampleAntialias"), 0},
    {TWO("ctc", "CTCGreedyDecoder", "20x16x5", "20x16", "16x20x1x1"), 0},
    {{.folder = "cvtu8f16",
      .layer = "CvtU8F16",
      .shapes = {"in0=2x3x7x13:u8", "out0=2x3x7x13:f16"},
      .params = {"scale=0.017", "bias=-2.1"}},
     0},
    {TWO("spatial_transformer", "SpatialTransformer", "3x2x7x11", "3x6",
         "3x2x5x13"),
     0},
    {REGION("60", "do_softmax=1"), 1},
    {REGION("36", "do_softmax=0", "mask=4,0,1"), 1},
    {{.folder = "prior_grid",
      .layer = "PriorGrid",
      .shapes = {"in0=3x4", "in1=1x8x7x11", "in2=1x3x100x171", "out0=231x4"},
      .params = {"stride_y=0", "stride_x=4.5"}},
     0},
    {BINARY(1, 32, 6), 0},
    {BINARY(3, 32, 54), 0},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

static vpu_status open_plugin(const char *path, double timeout, void **self)
{
    backend_config *cfg = arena_new(a, backend_config);

    *cfg = (backend_config){.device = path,
                            .how.timeout_s = timeout,
                            .params = b.params,
                            .n_params = b.n_params};
    return backend_host_ops.open(cfg, b.graph, self, &err);
}

static vpu_status run(void *self)
{
    backend_result *r = arena_array(a, backend_result, b.graph->n_launches);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b.graph->n_buffers && !st; i++)
        if (b.graph->buffers[i].role == GRAPH_INPUT)
            st = backend_host_ops.write(self, i, b.data[i], &err);
    return st ? st
              : backend_host_ops.run(self, 0, b.graph->n_launches, r, &err);
}

START_TEST(plugin_equals_simulator)
{
    diff_tolerance tol = {.ulp = samples[_i].ulp};
    const graph_buffer *out;
    diff_result r;
    void *self, *got;
    uint32_t o;

    bound_layer(a, &samples[_i].q, &b);
    bound_simulate(&b);
    o = bound_output(&b);
    out = &b.graph->buffers[o];
    got = arena_push(a, out->bytes, 1, 64);
    ck_assert_msg(!open_plugin(arena_printf(a, "build/plugins/%s.so",
                                            samples[_i].q.folder),
                               30, &self),
                  "%s: %s", samples[_i].q.layer, err.msg);
    ck_assert(!backend_host_ops.caps(self)->stages);
    ck_assert_str_eq(backend_host_ops.caps(self)->device, samples[_i].q.folder);
    ck_assert_msg(!run(self), "%s: %s", samples[_i].q.layer, err.msg);
    ck_assert(!backend_host_ops.read(self, o, got, &err));
    ck_assert(!diff_compare(&(const diff_pair){&out->desc, b.data[o], got},
                            &tol, NULL, &r, &err));
    ck_assert_msg(r.equal, "%s: %d of %d differ, first %d: %g, expected %g",
                  samples[_i].q.layer, (int)r.n_diff, (int)r.n_elements,
                  (int)r.first.index, r.first.value_a, r.first.value_b);
    /* So that zeros do not pass for a result. */
    ck_assert(r.max_abs_b > 0);
    backend_host_ops.close(self);
}
END_TEST

/* --- plug-ins that go wrong ---------------------------------------------- */

#define TABLE(more)                                                     \
    "static const char *const types[] = {\"GRN\", NULL};\n"             \
    "static const vpu_plugin p = {.abi = VPU_PLUGIN_ABI,"               \
    ".bytes = sizeof(vpu_plugin), .name = \"bad\", .version = \"7\","   \
    ".types = types, .init = vpu_plugin_keep, .execute = execute," more \
    "};\nVPU_PLUGIN_EXPORT(p)\n"
#define EXECUTE(body)                                              \
    "static int execute(void *self, const vpu_plugin_tensor *in,"  \
    "uint32_t n_in, const vpu_plugin_tensor *out, uint32_t n_out," \
    "vpu_plugin_error *e) {" body " return 0; }\n"
#define BAD_SHAPE                                                      \
    "static int shape(void *self, const vpu_plugin_desc *in,"          \
    "uint32_t n, vpu_plugin_desc *out, uint32_t m, vpu_plugin_error *" \
    "e) { out->dims[1] = 99; return 0; }\n"
#define PICKY                                                   \
    "static int formats(void *self, const vpu_plugin_desc *in," \
    "uint32_t n, const vpu_plugin_desc *out, uint32_t m,"       \
    "vpu_plugin_error *e) {"                                    \
    "return vpu_plugin_refuses(in, n, VPU_PLUGIN_I64, e); }\n"

static const struct {
    const char *what, *source;
    bool at_open;
    vpu_status status;
    const char *say[4];
} bad[] = {
    {"crashes",
     EXECUTE("printf(\"here I am\\n\"); *(volatile int *)8 = 1;") TABLE(""),
     false,
     VPU_ERR_PLUGIN,
     {"signal 11", "execute of layer 'GRN'", "here I am"}},
    {"writes into its input",
     EXECUTE("((char *)in->data)[0] = 1;") TABLE(""),
     false,
     VPU_ERR_PLUGIN,
     {"signal 11", "execute"}},
    {"aborts when loaded",
     "__attribute__((constructor)) static void now(void) { abort(); "
     "}\n" EXECUTE("") TABLE(""),
     true,
     VPU_ERR_PLUGIN,
     {"signal 6", "loading"}},
    {"hangs",
     EXECUTE("for (volatile int i = 0;;) i = i;") TABLE(""),
     false,
     VPU_ERR_LIMIT,
     {"still in execute", "after 1 s"}},
    {"prints for ever",
     EXECUTE("for (;;) puts(\"noise\");") TABLE(""),
     false,
     VPU_ERR_PLUGIN,
     {"signal 25", "noise"}},
    {"exits",
     EXECUTE("exit(3);") TABLE(""),
     false,
     VPU_ERR_PLUGIN,
     {"exit status 3", "execute"}},
    {"fails",
     EXECUTE("return vpu_plugin_fail(e, \"no such luck\");") TABLE(""),
     false,
     VPU_ERR_PLUGIN,
     {"no such luck", "GRN"}},
    {"another version",
     EXECUTE(
         "") "static const vpu_plugin p = {.abi = 77, .execute = execute};\n"
             "VPU_PLUGIN_EXPORT(p)\n",
     true,
     VPU_ERR_UNSUPPORTED,
     {"version 77", "version 1"}},
    {"no table",
     "const vpu_plugin *vpu_plugin_get(uint32_t abi);\n"
     "const vpu_plugin *vpu_plugin_get(uint32_t abi)"
     "{ return abi ? NULL : NULL; }\n",
     true,
     VPU_ERR_UNSUPPORTED,
     {"no table for version 1"}},
    {"no symbol", "int x;\n", true, VPU_ERR_UNSUPPORTED, {"vpu_plugin_get"}},
    {"missing function",
     "int nowhere(void);\n" EXECUTE("nowhere();") TABLE(""),
     true,
     VPU_ERR_UNSUPPORTED,
     {"cannot be loaded", "nowhere"}},
    {"another layer",
     EXECUTE("") "static const char *const types[] = {\"A\", \"B\", NULL};\n"
                 "static const vpu_plugin p = {.abi = VPU_PLUGIN_ABI, .bytes = "
                 "sizeof(vpu_plugin), .types = types, .init = vpu_plugin_keep,"
                 ".execute = execute};\nVPU_PLUGIN_EXPORT(p)\n",
     true,
     VPU_ERR_UNSUPPORTED,
     {"'GRN'", "A, B"}},
    {"another shape",
     BAD_SHAPE EXECUTE("") TABLE(".shape = shape"),
     true,
     VPU_ERR_MISMATCH,
     {"1x4x2x8", "1x99x2x8", "out0"}},
    {"another format",
     PICKY EXECUTE("") TABLE(".formats = formats"),
     true,
     VPU_ERR_UNSUPPORTED,
     {"tensor 0 of 1 is f16", "i64"}},
};
enum { N_BAD = sizeof bad / sizeof *bad };

static const bound_request small = {.folder = "grn",
                                    .layer = "GRN",
                                    .shapes = {"in0=1x4x2x8"},
                                    .params = {"bias=1"}};

static char *compile(const char *source)
{
    char *c = arena_strdup(a, file_join(a, dir, "plugin.c"));
    char *so = arena_strdup(a, file_join(a, dir, "plugin.so"));
    str text = {0};

    str_puts(&text, "#include \"vpu_plugin.h\"\n");
    str_puts(&text, source);
    ck_assert(!file_write(c, text.data, text.n, &err));
    str_free(&text);
    ck_assert_int_eq(system(arena_printf(a,
                                         "cc -w -shared -fPIC -Iinclude/vpusim "
                                         "-o %s %s",
                                         so, c)),
                     0);
    return so;
}

START_TEST(bad_plugin)
{
    char *so = compile(bad[_i].source);
    void *self = NULL;
    vpu_status st;

    bound_layer(a, &small, &b);
    st = open_plugin(so, 1, &self);
    if (!bad[_i].at_open) {
        ck_assert_msg(!st, "%s: %s", bad[_i].what, err.msg);
        ck_assert_str_eq(backend_host_ops.caps(self)->version, "7");
        st = run(self);
    } else {
        ck_assert_ptr_null(self);
    }
    ck_assert_msg(st == bad[_i].status, "%s: %d, %s", bad[_i].what, st,
                  err.msg);
    for (int i = 0; i < 4 && bad[_i].say[i]; i++)
        ck_assert_msg(strstr(err.msg, bad[_i].say[i]) != NULL,
                      "%s: '%s' is not in: %s", bad[_i].what, bad[_i].say[i],
                      err.msg);
    backend_host_ops.close(self);
}
END_TEST

START_TEST(files_that_are_no_plugins)
{
    char *text = arena_strdup(a, file_join(a, dir, "text.so"));
    void *self;

    bound_layer(a, &small, &b);
    ck_assert(!file_write(text, "hello\n", 6, &err));
    ck_assert_int_eq(open_plugin(text, 5, &self), VPU_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.msg, "68 65 6c 6c") != NULL, "%s", err.msg);
    ck_assert(!file_write(text, "\177ELFhello\n", 10, &err));
    ck_assert_int_eq(open_plugin(text, 5, &self), VPU_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.msg, "cannot be loaded") != NULL, "%s", err.msg);
    ck_assert_int_eq(open_plugin("/nowhere/x.so", 5, &self), VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "/nowhere/x.so") != NULL, "%s", err.msg);
    ck_assert_int_eq(open_plugin("", 5, &self), VPU_ERR_INVALID);
}
END_TEST

/* The parent is as it was: a good plug-in runs after a crash. */
START_TEST(a_crash_leaves_nothing_behind)
{
    char *so = compile(bad[0].source);
    uint32_t o;
    void *self;

    bound_layer(a, &small, &b);
    for (int i = 0; i < 3; i++) {
        ck_assert(!open_plugin(so, 5, &self));
        ck_assert_int_eq(run(self), VPU_ERR_PLUGIN);
        backend_host_ops.close(self);
    }
    bound_simulate(&b);
    o = bound_output(&b);
    ck_assert_msg(!open_plugin("build/plugins/grn.so", 5, &self), "%s",
                  err.msg);
    ck_assert_msg(!run(self), "%s", err.msg);
    memset(b.data[0], 0, b.graph->buffers[0].bytes);
    ck_assert(!backend_host_ops.read(self, 0, b.data[0], &err));
    ck_assert(!backend_host_ops.read(self, o, b.data[o], &err));
    backend_host_ops.close(self);
}
END_TEST

START_TEST(parameters_and_ports_that_do_not_fit)
{
    void *self;

    bound_layer(a, &small, &b);
    ck_assert(!open_plugin("build/plugins/grn.so", 5, &self));
    ck_assert_int_eq(backend_host_ops.write(self, 99, b.data[0], &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(backend_host_ops.read(self, 99, b.data[0], &err),
                     VPU_ERR_UNSUPPORTED);
    ck_assert_int_eq(backend_host_ops.run(self, 0, 0, NULL, &err),
                     VPU_ERR_INVALID);
    backend_host_ops.close(self);
    backend_host_ops.close(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host");
    TCase *tc = tcase_create("plug-ins");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, plugin_equals_simulator, 0, N_SAMPLES);
    tcase_add_loop_test(tc, bad_plugin, 0, N_BAD);
    tcase_add_test(tc, files_that_are_no_plugins);
    tcase_add_test(tc, a_crash_leaves_nothing_behind);
    tcase_add_test(tc, parameters_and_ports_that_do_not_fit);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
