/* Conversions between stages, executed: what a kernel sees in the order and
 * type it asked for, and what comes back. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/backend/backend.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/io.h"
#include "tests/support/util.h"

static arena *a;
static test_log tlog;
static vpu_error err;
static char dir[] = "/tmp/convert_testXXXXXX";
static config_file file;
static mach_desc machine;

/* One item per element, memory order kept. */
static const char copy_cl[] =
    "__kernel void copy(__global const T *src, __global T *dst)\n"
    "{ dst[get_global_id(0)] = src[get_global_id(0)]; }\n";

static void setup(void)
{
    a = arena_create(0);
    test_log_init(&tlog);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert(!file_write(file_join(a, dir, "copy.cl"), copy_cl,
                          sizeof copy_cl - 1, &err));
    ck_assert(!mach_desc_load(NULL, a, &machine, &err));
}

static void teardown(void)
{
    unlink(file_join(a, dir, "copy.cl"));
    rmdir(dir);
    test_log_fini(&tlog);
    arena_destroy(a);
}

/* A binding file whose kernel copies, with these formats. */
static void binding(const char *in, const char *out)
{
    const char *text = arena_printf(
        a,
        "<CustomLayer name=\"Copy\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"copy\"><Source filename=\"copy.cl\"/><Parameters>"
        "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
        "format=\"%s\"/><Tensor arg-name=\"dst\" type=\"output\" "
        "port-index=\"0\" format=\"%s\"/></Parameters>"
        "<WorkSizes dim=\"input,0\" global=\"n\" local=\"1\"/></Kernel>"
        "</CustomLayer>",
        in, out);

    ck_assert_msg(
        !config_file_parse(
            &(const file_bytes){text, strlen(text), file_join(a, dir, "l.xml")},
            a, NULL, CONFIG_EVERY_RELEASE, &file, &err),
        "%s", err.msg);
}

static backend run(const graph *g, const char *type)
{
    const char *options[] = {arena_printf(a, "-DT=%s", type)};
    backend_config *cfg = arena_new(a, backend_config);
    backend sim;

    *cfg = (backend_config){.device = "",
                            .desc = &machine,
                            .compile.options =
                                arena_memdup(a, options, sizeof options),
                            .compile.n_options = 1,
                            .compile.no_cache = true,
                            .log = &tlog.sink};
    ck_assert_msg(
        !backend_open(backend_offering(BACKEND_INSPECT), cfg, g, &sim, &err),
        "%s", err.msg);
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].role == GRAPH_INPUT)
            ck_assert(!graph_input_fill(&g->buffers[i], "random:3",
                                        backend_buffer(&sim, i), &err));
    ck_assert_msg(!backend_run_all(&sim, g, &err), "%s", err.msg);
    return sim;
}

/* The first buffer of a role; its bytes. */
static const graph_buffer *buffer(const graph *g, const backend *sim,
                                  graph_role role, void **data)
{
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].role == role) {
            *data = backend_buffer(sim, i);
            return &g->buffers[i];
        }
    ck_abort_msg("no buffer of role %d", role);
    return NULL;
}

static const struct {
    const char *in, *out, *shape, *type;
    const char *names; /* of the launches */
} cases[] = {
    {"BYXF", "BFYX", "1x3x5x7", "half", "Copy@reorder-input-data=0 Copy "},
    {"BFYX", "BYXF", "2x3x5x7", "half", "Copy Copy@reorder-output-data=0 "},
    {"BYXF", "ANY", "2x64x5x8:f32", "float", "Copy@reorder-input-data=0 Copy "},
    {"BYXF", "BFYX", "1x3x5x7:u8", "uchar", "Copy@reorder-input-data=0 Copy "},
    {"BYXF", "BFYX", "1x3x5x7:i64", "long", "Copy@reorder-input-data=0 Copy "},
    {"BYXF", "BFYX", "1x1021x1x3", "half", "Copy@reorder-input-data=0 Copy "},
    {"YXF", "FYX", "40x9x5", "half", "Copy@reorder-input-data=0 Copy "},
    {"FYX", "YXF", "3x9x5", "half", "Copy Copy@reorder-output-data=0 "},
    {"BYXF", "BFYX", "2x3x4x5x6", "half", "Copy@reorder-input-data=0 Copy "},
    {"BFYX", "BFYX", "2x3x4x5x6", "half", "Copy "},
    {"ANY", "BF", "9", "half", "Copy "},
};

START_TEST(orders)
{
    const char *shape = arena_printf(a, "in0=%s", cases[_i].shape);
    graph_shape in;
    config_param n = {"n", NULL};
    graph_request q = {.binding = &file,
                       .shapes = &in,
                       .n_shapes = 1,
                       .params = &n,
                       .n_params = 1};
    const char *names = "";
    tensor_desc moved;
    backend sim;
    void *src, *dst, *want;
    graph *g;

    binding(cases[_i].in, cases[_i].out);
    ck_assert(!graph_shape_parse(shape, &in, &err));
    n.value = arena_printf(a, "%u", (unsigned)tensor_elements(&in.desc));
    ck_assert_msg(!graph_bind(&q, a, &tlog.sink, &g, &err), "%s", err.msg);
    for (uint32_t i = 0; i < g->n_launches; i++)
        names = arena_printf(a, "%s%s ", names, g->launches[i].name);
    ck_assert_str_eq(names, cases[_i].names);
    sim = run(g, cases[_i].type);
    buffer(g, &sim, GRAPH_INPUT, &src);
    buffer(g, &sim, GRAPH_OUTPUT, &dst);
    want = arena_push(a, tensor_bytes(&in.desc), 1, 16);
    /* What was moved once and copied is the other order read as this one. */
    moved = in.desc;
    if (strstr(names, "output"))
        moved.layout = TENSOR_CHANNEL_MINOR;
    tensor_relayout(
        &moved, src,
        strstr(names, "input") ? TENSOR_CHANNEL_MINOR : TENSOR_PLAIN, want);
    ck_assert_mem_eq(dst, want, tensor_bytes(&in.desc));
    for (uint32_t i = 0; i < g->n_launches; i++)
        ck_assert_uint_gt(backend_launch_of(&sim, i)->exec.profile.cycles, 0);
    backend_close(&sim);
}
END_TEST

/* --- types, from a model ------------------------------------------------- */

#define PORT(id, precision)                                        \
    "<port id=\"" id "\" precision=\"" precision "\"><dim>1</dim>" \
    "<dim>3</dim><dim>7</dim><dim>5</dim></port>"
#define NET(in, out)                                                          \
    "<net name=\"n\" version=\"10\"><layers>"                                 \
    "<layer id=\"0\" name=\"image\" type=\"Parameter\" version=\"opset1\">"   \
    "<output>" PORT(                                                          \
        "0",                                                                  \
        in) "</output></layer>"                                               \
            "<layer id=\"1\" name=\"copy\" type=\"Copy\" "                    \
            "version=\"extension\">"                                          \
            "<data n=\"105\"/><input>" PORT("0", in) "</input><output>" PORT( \
                "1", out) "</output></layer>"                                 \
                          "<layer id=\"2\" name=\"r\" type=\"Result\" "       \
                          "version=\"opset1\"><input>" PORT(                  \
                              "0",                                            \
                              out) "</input></layer></layers><edges>"         \
                                   "<edge from-layer=\"0\" from-port=\"0\" "  \
                                   "to-layer=\"1\" to-port=\"0\"/>"           \
                                   "<edge from-layer=\"1\" from-port=\"1\" "  \
                                   "to-layer=\"2\" to-port=\"0\"/>"           \
                                   "</edges></net>"

static const struct {
    const char *net, *formats[2], *names;
} types[] = {
    {NET("FP32", "FP32"), {"BFYX", "BFYX"}, "image@FP16 copy copy@FP32 "},
    {NET("U8", "FP16"), {"BFYX", "BFYX"}, "image@FP16 copy "},
    {NET("FP16", "FP32"), {"ANY", "ANY"}, "copy copy@FP32 "},
    {NET("U8", "FP32"),
     {"BYXF", "BYXF"},
     "image@FP16 copy@reorder-input-data=0 copy "
     "copy@reorder-output-data=0 copy@FP32 "},
};

static float element(const tensor_desc *d, const void *data, size_t i)
{
    switch (d->dtype) {
    case TENSOR_F16:
        return tensor_f16_to_f32(((const uint16_t *)data)[i]);
    case TENSOR_F32:
        return ((const float *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

START_TEST(types_of_a_model)
{
    config_model m;
    graph_request q = {.binding = &file, .model = &m};
    const graph_buffer *in, *out;
    const char *names = "";
    void *src, *dst;
    backend sim;
    graph *g;

    binding(types[_i].formats[0], types[_i].formats[1]);
    ck_assert_msg(
        !config_model_parse(
            &(const file_bytes){types[_i].net, strlen(types[_i].net), "m.xml"},
            NULL, a, &m, &err),
        "%s", err.msg);
    ck_assert_msg(!graph_bind(&q, a, &tlog.sink, &g, &err), "%s", err.msg);
    for (uint32_t i = 0; i < g->n_launches; i++)
        names = arena_printf(a, "%s%s ", names, g->launches[i].name);
    ck_assert_str_eq(names, types[_i].names);
    sim = run(g, "half");
    in = buffer(g, &sim, GRAPH_INPUT, &src);
    out = buffer(g, &sim, GRAPH_OUTPUT, &dst);
    for (size_t i = 0; i < 105; i++) {
        float half =
            tensor_f16_to_f32(tensor_f32_to_f16(element(&in->desc, src, i)));

        ck_assert(element(&out->desc, dst, i) == half);
    }
    backend_close(&sim);
}
END_TEST

/* What the graph's own launches are made with. */
START_TEST(compiled_from_memory)
{
    kernel_compile_config cfg = {.user.no_cache = true};
    kernel_source source = {.path = "<vpusim>/t.cl",
                            .entry = "k",
                            .text = "__kernel void k(__global int *p)\n"
                                    "{ p[get_global_id(0)] = 1; }\n"};
    sim_kernel *k;

    ck_assert(!setenv("TMPDIR", dir, 1));
    ck_assert_msg(!kernel_compile(&source, &cfg, a, &k, &err), "%s", err.msg);
    ck_assert_str_eq(k->source, "<vpusim>/t.cl");
    ck_assert_uint_eq(k->n_args, 1);
    kernel_release(k);
    source.text = "\n\nkernel void k() { x; }\n";
    ck_assert_int_eq(kernel_compile(&source, &cfg, a, &k, &err),
                     VPU_ERR_COMPILE);
    ck_assert_ptr_null(k);
    ck_assert_msg(!strncmp(err.msg, "<vpusim>/t.cl:3:19: error:", 26), "%s",
                  err.msg);
    /* Nothing but copy.cl is left in the folder. */
    unlink(file_join(a, dir, "copy.cl"));
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("convert");
    TCase *t = tcase_create("convert");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, orders, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, types_of_a_model, 0, sizeof types / sizeof *types);
    tcase_add_test(t, compiled_from_memory);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
