/* Graphs as blobs: what the blob's own checker says, and what a virtual stick
 * makes of them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/blob/check.h"
#include "runtime/link/mvnc.h"
#include "sim/compiler/kernel.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"
#include "tests/runtime/stick/stick_rig.h"

enum { N = 256 };

static vpu_context *sim;
static vpu_graph *g;
static arena *mem;
static char *dir;
static const char *path;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
    path = file_join(mem, dir, "graph.blob");
    api_ok(vpu_graph_create(&g, sim, &api_err));
}

static void teardown(void)
{
    vpu_graph_free(g);
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* y = relu(x * w + x), with a kernel of its own and a constant. */
static void build(void)
{
    static const char source[] =
        "__kernel void own(__global const half *x, __constant half *w,\n"
        "                  __global half *y, int n, float f)\n"
        "{\n"
        "    int i = get_global_id(0);\n"
        "    y[i] = x[i] * w[i] + (half)(n * f);\n"
        "}\n";
    uint16_t w[N];
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_program *p = api_program(sim, source);
    const vpu_kernel *k;
    vpu_tensor *x, *c, *m;
    vpu_operation *op;

    for (int i = 0; i < N; i++)
        w[i] = (uint16_t)(0x3c00 + i); /* 1 and a little more */
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F16, N);
    o.name = "w";
    o.role = VPU_ROLE_CONSTANT;
    o.shape = "256:f16";
    o.data = w;
    api_ok(vpu_graph_tensor(g, &o, &c, &api_err));
    m = api_tensor(g, "m", VPU_ROLE_VIRTUAL, VPU_F16, N);
    l.global[0] = N;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_tensor(op, "w", c, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", m, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", -3, &api_err));
    api_ok(vpu_operation_set_real(op, "f", 0.25, &api_err));
    a.name = "y";
    a.inputs = &m;
    a.n_inputs = 1;
    a.output_role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_add(g, "relu", &a, &op, &api_err));
    vpu_program_free(p);
}

/* The file as a blob in which all numbers agree. */
static blob verified(void)
{
    str findings = {0};
    size_t n;
    char *data = program_file(mem, dir, "graph.blob", &n);
    blob b;

    api_ok(blob_parse(data, n, path, mem, &b, &api_err));
    ck_assert_msg(!blob_check(&b, mem, &findings), "%s", str_text(&findings));
    str_free(&findings);
    return b;
}

static void run_on_stick(xlink_layout layout, const void *in, void *out)
{
    mvnc_config c = {.timeout_ms = 20000, .dead_ms = 20000};
    size_t n;
    char *data = program_file(mem, dir, "graph.blob", &n);
    rig_stick r;
    mvnc_graph *on;
    mvnc *m;

    c.layout = layout;
    rig_stick_start(&r, layout, NULL);
    api_ok(mvnc_open(r.host_end, &c, &m, &api_err));
    api_ok(mvnc_graph_create(
        m, data, n, &(const mvnc_graph_config){1, 2, 60000}, &on, &api_err));
    ck_assert_uint_eq(mvnc_graph_about(on).output.bytes, 2 * N);
    api_ok(mvnc_infer(on, in, &api_err));
    api_ok(mvnc_result(on, out, 20000, &api_err));
    api_ok(mvnc_graph_destroy(on, &api_err));
    api_ok(mvnc_close(m, &api_err));
    rig_stick_end(&r);
}

static const struct {
    const char *release, *xlink;
    uint32_t shaves;
    xlink_layout layout;
    uint32_t is_shaves;
} ways[] = {{NULL, NULL, 0, XLINK_LAYOUT_C, 7},
            {"2021.4", NULL, 4, XLINK_LAYOUT_A, 4},
            {NULL, "B", 16, XLINK_LAYOUT_B, 16}};
enum { N_WAYS = sizeof ways / sizeof *ways };

START_TEST(stick_runs_what_was_exported)
{
    vpu_graph_export_options o = VPU_GRAPH_EXPORT_OPTIONS_INIT;
    uint16_t in[N], out[N];
    vpu_tensor *x;
    blob b;

    build();
    o.release = ways[_i].release;
    o.xlink = ways[_i].xlink;
    o.shaves = ways[_i].shaves;
    api_ok(vpu_graph_export(g, path, &o, &api_err));
    b = verified();
    ck_assert_uint_eq(b.n_shaves, ways[_i].is_shaves);
    ck_assert_uint_eq(b.n_stages, 2);
    ck_assert_str_eq(b.inputs[0].name, "x");
    ck_assert_str_eq(b.outputs[0].name, "y");
    x = vpu_graph_tensor_named(g, "x");
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "random:9", &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    api_ok(vpu_tensor_read(x, in, sizeof in, &api_err));
    run_on_stick(ways[_i].layout, in, out);
    ck_assert_mem_eq(out, vpu_tensor_data(vpu_graph_tensor_named(g, "y")),
                     sizeof out);
}
END_TEST

START_TEST(loaded_graph_gives_the_same_blob)
{
    const char *file = file_join(mem, dir, "graph.vpugraph");
    char *first, *second;
    vpu_graph *loaded;
    size_t n, m;

    build();
    api_ok(vpu_graph_export(g, path, NULL, &api_err));
    first = program_file(mem, dir, "graph.blob", &n);
    for (uint32_t compiled = 0; compiled < 2; compiled++) {
        vpu_graph_save_options o = VPU_GRAPH_SAVE_OPTIONS_INIT;

        o.compiled = compiled;
        api_ok(vpu_graph_save(g, file, &o, &api_err));
        api_ok(vpu_graph_load(&loaded, sim, file, &api_err));
        api_ok(vpu_graph_export(loaded, path, NULL, &api_err));
        vpu_graph_free(loaded);
        second = program_file(mem, dir, "graph.blob", &m);
        verified();
        if (!compiled)
            continue;
        ck_assert_uint_eq(n, m);
        ck_assert_mem_eq(first, second, n);
    }
}
END_TEST

/* A constant whose channels a layer wants innermost: the blob has it so. */
static const char layer[] =
    "<CustomLayer name=\"Weigh\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"weigh\"><Source filename=\"k.cl\"/><Parameters>\n"
    "    <Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
    "format=\"BYXF\"/>\n"
    "    <Tensor arg-name=\"w\" type=\"input\" port-index=\"1\" "
    "format=\"BYXF\"/>\n"
    "    <Tensor arg-name=\"y\" type=\"output\" port-index=\"0\" "
    "format=\"BYXF\"/>\n"
    "  </Parameters><WorkSizes dim=\"input,0\" global=\"B*F*Y*X,1,1\" "
    "local=\"Y*X,1,1\"/></Kernel>\n"
    "</CustomLayer>\n";
static const char kernel[] =
    "__kernel void weigh(__global const half *x, __global const half *w,\n"
    "                    __global half *y)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = x[i] * w[i] + (half)(i % 4);\n"
    "}\n";

START_TEST(constant_in_another_order)
{
    const char *file = file_join(mem, dir, "layer.xml");
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    uint16_t w[N], in[N], out[N];
    vpu_operation *op;
    vpu_tensor *xw[2];
    vpu_result *r;

    for (int i = 0; i < N; i++)
        w[i] = (uint16_t)(0x3c00 + i);
    ck_assert(!file_write(file, layer, sizeof layer - 1, NULL));
    ck_assert(!file_write(file_join(mem, dir, "k.cl"), kernel,
                          sizeof kernel - 1, NULL));
    t.shape = "1x4x8x8:f16";
    t.role = VPU_ROLE_INPUT;
    api_ok(vpu_graph_tensor(g, &t, &xw[0], &api_err));
    t.role = VPU_ROLE_CONSTANT;
    t.data = w;
    api_ok(vpu_graph_tensor(g, &t, &xw[1], &api_err));
    o.bindings = &file;
    o.n_bindings = 1;
    o.inputs = xw;
    o.n_inputs = 2;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    api_ok(vpu_graph_export(g, path, NULL, &api_err));
    verified();
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(xw[0], "random:4", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 3);
    vpu_result_free(r);
    api_ok(vpu_tensor_read(xw[0], in, sizeof in, &api_err));
    run_on_stick(XLINK_LAYOUT_C, in, out);
    ck_assert_mem_eq(out, vpu_tensor_data(vpu_operation_output(op, 0)),
                     sizeof out);
    for (int i = 0; i < N; i++) {
        __extension__ _Float16 a, b, y;

        memcpy(&a, &in[i], 2);
        memcpy(&b, &w[i], 2);
        y = (_Float16)((float)(_Float16)((float)a * (float)b) +
                       (float)(i / 64));
        ck_assert_mem_eq(&out[i], &y, 2);
    }
}
END_TEST

START_TEST(exports_that_are_refused)
{
    vpu_graph_export_options o = VPU_GRAPH_EXPORT_OPTIONS_INIT;

    api_fails(vpu_graph_export(g, path, NULL, &api_err), VPU_ERR_INVALID,
              "no operation");
    build();
    o.shaves = 17;
    api_fails(vpu_graph_export(g, path, &o, &api_err), VPU_ERR_INVALID,
              "shaves is 17");
    o.shaves = 0;
    o.release = "2030.1";
    api_fails(vpu_graph_export(g, path, &o, &api_err), VPU_ERR_INVALID,
              "release '2030.1'");
    o.release = NULL;
    o.xlink = "D";
    api_fails(vpu_graph_export(g, path, &o, &api_err), VPU_ERR_INVALID,
              "expected A, B or C");
    o.xlink = NULL;
    o.release = "2019R3";
    api_fails(vpu_graph_export(g, path, &o, &api_err), VPU_ERR_UNSUPPORTED,
              "2019");
    ck_assert(!file_exists(path));
    api_fails(vpu_graph_export(g, file_join(mem, dir, "no/b"), NULL, &api_err),
              VPU_ERR_IO, "no/b");
}
END_TEST

/* A .bin of ours says which releases run it. */
START_TEST(kernels_that_no_blob_takes)
{
    static const char unknown[] =
        "__kernel void k(__global const half *x, __global half *y)\n{\n"
        "    y[0] = z;\n}\n";
    static const char good[] =
        "__kernel void k(__global const half *x, __global half *y)\n{\n"
        "    y[get_global_id(0)] = x[get_global_id(0)];\n}\n";
    const kernel_source text = {.path = "k.cl", .text = good};
    const kernel_compile_config how = {.log = NULL};
    vpu_graph_export_options o = VPU_GRAPH_EXPORT_OPTIONS_INIT;
    vpu_context_options small = VPU_CONTEXT_OPTIONS_INIT;
    kernel_bin bin;
    vpu_context *c;
    vpu_graph *of;

    api_layer(g, dir, "k.cl", unknown);
    api_fails(vpu_graph_export(g, path, NULL, &api_err), VPU_ERR_COMPILE,
              "k.cl:3:12");
    small.no_cache = 1;
    small.compile_memory = 3 << 20;
    api_ok(vpu_context_create(&c, &small, &api_err));
    api_ok(vpu_graph_create(&of, c, &api_err));
    api_layer(of, dir, "k.cl", good);
    api_fails(vpu_graph_export(of, path, NULL, &api_err), VPU_ERR_LIMIT,
              "needed more than 3 MB of memory");
    vpu_graph_free(of);
    vpu_context_free(c);

    ck_assert(!kernel_build_bin(&text, &how, mem, &bin, NULL));
    ck_assert(
        !file_write(file_join(mem, dir, "k.bin"), bin.bytes, bin.n, NULL));
    api_ok(vpu_graph_create(&of, sim, &api_err));
    api_layer(of, dir, "k.bin", NULL);
    o.release = "2020.4";
    api_fails(vpu_graph_export(of, path, &o, &api_err), VPU_ERR_MISMATCH,
              "compiled for OpenVINO 2021.1 and later; 2020.4 needs");
    ck_assert(!file_exists(path));
    vpu_graph_free(of);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("export");
    Suite *suite = suite_create("graphs as blobs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, stick_runs_what_was_exported, 0, N_WAYS);
    tcase_add_test(t, loaded_graph_gives_the_same_blob);
    tcase_add_test(t, constant_in_another_order);
    tcase_add_test(t, exports_that_are_refused);
    tcase_add_test(t, kernels_that_no_blob_takes);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
