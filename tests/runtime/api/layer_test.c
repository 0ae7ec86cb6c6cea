/* Layers of binding files: the same bytes and cycles as the program's, and
 * layers and kernels in one graph. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

static vpu_context *sim;
static arena *mem;
static char *dir;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* --- as the program ------------------------------------------------------- */

static const struct {
    const char *file, *layer, *shapes[3], *params[3];
} layers[] = {
    {"kernels/grn/layer.xml", "GRN", {"in0=1x16x24x32"}, {"bias=1.0"}},
    {"kernels/grn/layer.xml", "GRNDma", {"in0=2x16x24x32"}, {"bias=0.5"}},
    {"kernels/softmax/layer.xml", NULL, {"in0=1x21x16x24"}, {"axis=1"}},
    {"kernels/mvn/layer.xml", NULL, {"in0=1x3x16x24"}, {"eps=0.001"}},
    {"kernels/leaky_relu/gpu.xml",
     NULL,
     {"in0=1x8x16x24"},
     {"negative_slope=0.1"}},
};
enum { N_LAYERS = sizeof layers / sizeof *layers };

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (n < 3 && list[n])
        n++;
    return n;
}

/* out0.npy and report.json in the folder. */
static void run_program(int i)
{
    program_args p;

    program_args_init(&p, mem, "run", layers[i].file, "--output", dir,
                      "--quiet", NULL);
    if (layers[i].layer)
        program_args_add(&p, "--layer=%s", layers[i].layer);
    for (size_t k = 0; k < count(layers[i].shapes); k++)
        program_args_add(&p, "--shape=%s", layers[i].shapes[k]);
    for (size_t k = 0; k < count(layers[i].params); k++)
        program_args_add(&p, "--param=%s", layers[i].params[k]);
    program_args_add(&p, "--input=0=random:7");
    ck_assert_int_eq(program_run(&p, dir), 0);
}

static vpu_operation *add_layer(vpu_graph *g, int i)
{
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_operation *op;

    o.bindings = &layers[i].file;
    o.n_bindings = 1;
    o.layer = layers[i].layer;
    o.shapes = layers[i].shapes;
    o.n_shapes = count(layers[i].shapes);
    o.params = layers[i].params;
    o.n_params = count(layers[i].params);
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    return op;
}

START_TEST(as_vpu_run)
{
    vpu_graph *g;
    vpu_operation *op;
    vpu_result *r;
    vpu_tensor *y;
    tensor wanted;
    json_t *report;

    run_program(_i);
    ck_assert_int_eq(
        npy_read(file_join(mem, dir, "out0.npy"), mem, &wanted, NULL), VPU_OK);
    report = json_load_file(file_join(mem, dir, "report.json"), 0, NULL);
    api_ok(vpu_graph_create(&g, sim, &api_err));
    op = add_layer(g, _i);
    y = vpu_operation_output(op, 0);
    ck_assert_str_eq(vpu_tensor_name(y), "out0");
    ck_assert_ptr_eq(vpu_operation_input(op, 0),
                     vpu_graph_tensor_named(g, "in0"));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(vpu_operation_input(op, 0), "random:7", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_tensor_bytes(y), tensor_bytes(&wanted.desc));
    ck_assert_mem_eq(vpu_tensor_data(y), wanted.data, vpu_tensor_bytes(y));
    ck_assert_int_eq((json_int_t)vpu_result_cycles(r),
                     json_integer_value(json_object_get(report, "cycles")));
    json_decref(report);
    vpu_result_free(r);
    vpu_graph_free(g);
}
END_TEST

/* Against what a plug-in says is right, the parameters included. */
START_TEST(as_the_plug_in_says)
{
    static const char *const tolerance[] = {"ulp=1"};
    vpu_diff_options o = VPU_DIFF_OPTIONS_INIT;
    vpu_context *host = api_context("host:build/plugins/grn.so");
    vpu_graph *g, *h;
    vpu_operation *op;
    vpu_diff *d;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_ok(vpu_graph_create(&h, host, &api_err));
    op = add_layer(g, 0);
    add_layer(h, 0);
    api_ok(vpu_tensor_fill(vpu_operation_input(op, 0), "random:3", &api_err));
    o.tolerances = tolerance;
    o.n_tolerances = 1;
    api_ok(vpu_diff_create(&d, g, h, &o, &api_err));
    ck_assert_msg(vpu_diff_equal(d), "%s", vpu_diff_text(d));
    vpu_diff_free(d);
    vpu_graph_free(g);
    vpu_graph_free(h);
    vpu_context_free(host);
}
END_TEST

/* Each item of a batch is a launch of its own: this layer sees one item. */
static const char doubling[] =
    "<CustomLayer name=\"Double\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"doubled\"><Source filename=\"d.cl\"/><Parameters>\n"
    "    <Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "    <Tensor arg-name=\"y\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "  </Parameters><WorkSizes dim=\"input,0\" global=\"F*Y*X,1,1\" "
    "local=\"X,1,1\"/></Kernel>\n"
    "</CustomLayer>\n";
static const char doubled[] =
    "__kernel void doubled(__global const half *x, __global half *y)\n"
    "{ y[get_global_id(0)] = x[get_global_id(0)] + x[get_global_id(0)]; }\n";

START_TEST(a_batch_by_item)
{
    enum { COUNT = 3 * 2 * 4 * 8 };
    const char *xml[] = {file_join(mem, dir, "d.xml")};
    static const char *const shape[] = {"in0=3x2x4x8"};
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    const uint16_t *x, *y;
    vpu_operation *op;
    vpu_result *r;
    vpu_graph *g;

    ck_assert_int_eq(file_write(xml[0], doubling, sizeof doubling - 1, NULL),
                     VPU_OK);
    ck_assert_int_eq(file_write(file_join(mem, dir, "d.cl"), doubled,
                                sizeof doubled - 1, NULL),
                     VPU_OK);
    api_ok(vpu_graph_create(&g, sim, &api_err));
    o.bindings = xml;
    o.shapes = shape;
    o.n_bindings = o.n_shapes = 1;
    o.batch_by_item = 1;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(vpu_operation_input(op, 0), "random:5", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 3);
    x = vpu_tensor_data(vpu_operation_input(op, 0));
    y = vpu_tensor_data(vpu_operation_output(op, 0));
    for (int i = 0; i < COUNT; i++)
        ck_assert_float_eq(tensor_f16_to_f32(y[i]),
                           2 * tensor_f16_to_f32(x[i]));
    vpu_result_free(r);
    vpu_graph_free(g);
}
END_TEST

/* --- layers among others -------------------------------------------------- */

static const char halve[] =
    "__kernel void halve(__global const half *x, __global half *y)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = x[i] * 0.5h;\n"
    "}\n";

/* Halved, then normalized twice: as the layer on halved inputs, run apart. */
START_TEST(layers_and_kernels_in_one_graph)
{
    enum { BYTES = 16 * 24 * 32 * 2 };
    vpu_layer_options l = VPU_LAYER_OPTIONS_INIT;
    vpu_launch_options k = VPU_LAUNCH_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_program *p = api_program(sim, halve);
    const vpu_kernel *kernel;
    vpu_graph *one, *apart;
    vpu_operation *op;
    vpu_tensor *x, *v, *y, *step;
    uint16_t *half = arena_array(mem, uint16_t, BYTES / 2);

    api_ok(vpu_program_kernel(p, NULL, &kernel, &api_err));
    api_ok(vpu_graph_create(&one, sim, &api_err));
    t.name = "x";
    t.role = VPU_ROLE_INPUT;
    t.type = VPU_F16;
    t.rank = 4;
    t.dims[0] = 1;
    t.dims[1] = 16;
    t.dims[2] = 24;
    t.dims[3] = 32;
    api_ok(vpu_graph_tensor(one, &t, &x, &api_err));
    t.name = "v";
    t.role = VPU_ROLE_VIRTUAL;
    api_ok(vpu_graph_tensor(one, &t, &v, &api_err));
    t.name = "y";
    t.role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_tensor(one, &t, &y, &api_err));
    k.global[0] = BYTES / 2;
    api_ok(vpu_graph_add_kernel(one, kernel, &k, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", v, &api_err));
    l.bindings = &layers[0].file;
    l.n_bindings = 1;
    l.layer = "GRN";
    l.params = layers[0].params;
    l.n_params = 1;
    l.inputs = &v;
    l.n_inputs = 1;
    l.virtual_output = 1;
    api_ok(vpu_graph_add_layer(one, &l, &op, &api_err));
    step = vpu_operation_output(op, 0);
    ck_assert_uint_eq(vpu_tensor_role(step), VPU_ROLE_VIRTUAL);
    l.layer = "GRNDma";
    l.name = "again";
    l.inputs = &step;
    l.output = y;
    api_ok(vpu_graph_add_layer(one, &l, &op, &api_err));
    ck_assert_str_eq(vpu_operation_name(op), "again");
    ck_assert_ptr_eq(vpu_operation_output(op, 0), y);
    api_ok(vpu_graph_finalize(one, &api_err));
    api_ok(vpu_tensor_fill(x, "random:1", &api_err));
    api_ok(vpu_graph_run(one, NULL, NULL, &api_err));

    for (int i = 0; i < BYTES / 2; i++)
        half[i] = tensor_f32_to_f16(
            tensor_f16_to_f32(((uint16_t *)vpu_tensor_data(x))[i]) / 2);
    for (int i = 0; i < 2; i++) {
        api_ok(vpu_graph_create(&apart, sim, &api_err));
        l = (vpu_layer_options)VPU_LAYER_OPTIONS_INIT;
        l.bindings = &layers[0].file;
        l.n_bindings = 1;
        l.layer = i ? "GRNDma" : "GRN";
        l.params = layers[0].params;
        l.n_params = 1;
        l.shapes = layers[0].shapes;
        l.n_shapes = 1;
        api_ok(vpu_graph_add_layer(apart, &l, &op, &api_err));
        api_ok(vpu_graph_finalize(apart, &api_err));
        api_ok(vpu_tensor_write(vpu_operation_input(op, 0), half, BYTES,
                                &api_err));
        api_ok(vpu_graph_run(apart, NULL, NULL, &api_err));
        api_ok(vpu_tensor_read(vpu_operation_output(op, 0), half, BYTES,
                               &api_err));
        vpu_graph_free(apart);
    }
    ck_assert_mem_eq(vpu_tensor_data(y), half, BYTES);
    vpu_graph_free(one);
    vpu_program_free(p);
}
END_TEST

START_TEST(two_layers_side_by_side)
{
    vpu_graph *g;
    vpu_operation *p, *q;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    p = add_layer(g, 0);
    q = add_layer(g, 1);
    ck_assert_str_eq(vpu_tensor_name(vpu_operation_output(p, 0)), "out0");
    ck_assert_str_eq(vpu_tensor_name(vpu_operation_output(q, 0)),
                     "GRNDma.out0");
    ck_assert_ptr_eq(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 1),
                     vpu_operation_input(q, 0));
    api_ok(vpu_graph_finalize(g, &api_err));
    vpu_graph_free(g);
}
END_TEST

/* --- what does not fit ---------------------------------------------------- */

static void refused(vpu_graph *g, const vpu_layer_options *o, vpu_status st,
                    const char *words)
{
    vpu_operation *op;

    api_fails(vpu_graph_add_layer(g, o, &op, &api_err), st, words);
    ck_assert_ptr_null(op);
}

START_TEST(layers_that_do_not_fit)
{
    static const char *const nowhere[] = {"/nowhere.xml"};
    static const char *const typo[] = {"bais=1"};
    static const char *const shape[] = {"in0=1x2x"};
    static const char *const large[] = {"in0=1x1x65536x65536"};
    const char *torn[] = {file_join(mem, dir, "torn.xml")};
    vpu_layer_options good = VPU_LAYER_OPTIONS_INIT, o;
    vpu_context *other = api_context(NULL);
    vpu_operation *op;
    vpu_graph *g, *h;
    vpu_tensor *x, *y, *foreign, *part, *deep;
    vpu_tensor_options shaped = VPU_TENSOR_OPTIONS_INIT;
    vpu_view_options v = VPU_VIEW_OPTIONS_INIT;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_ok(vpu_graph_create(&h, other, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F16, 64);
    y = api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_F32, 64);
    foreign = api_tensor(h, "x", VPU_ROLE_INPUT, VPU_F16, 64);
    good.bindings = &layers[0].file;
    good.n_bindings = 1;
    good.layer = "GRN";
    good.shapes = layers[0].shapes;
    good.n_shapes = 1;
    good.params = layers[0].params;
    good.n_params = 1;
#define TRY(change, st, words) \
    o = good;                  \
    change;                    \
    refused(g, &o, st, words)
    TRY(o.n_bindings = 0, VPU_ERR_INVALID, "no binding file");
    TRY(o.bindings = NULL, VPU_ERR_INVALID, "bindings is NULL");
    TRY(o.bindings = nowhere, VPU_ERR_IO, "/nowhere.xml");
    TRY(o.layer = "GRM", VPU_ERR_INVALID, "GRN");
    TRY(o.params = typo, VPU_ERR_INVALID, "bias");
    TRY(o.shapes = shape, VPU_ERR_INVALID, "1x2x");
    TRY(o.model = "net.xml", VPU_ERR_INVALID, "its own shapes");
    TRY(o.at = "norm", VPU_ERR_INVALID, "needs a model");
    TRY((o.inputs = &foreign, o.n_inputs = 1), VPU_ERR_INVALID,
        "another graph");
    TRY(o.output = foreign, VPU_ERR_INVALID, "another graph");
    TRY((o.n_shapes = 0, o.inputs = &x, o.n_inputs = 1), VPU_ERR_INVALID, "");
    TRY(o.output = y, VPU_ERR_INVALID, "");
    ck_assert(!file_write(torn[0], "<CustomLayer\n", 13, NULL));
    TRY(o.bindings = torn, VPU_ERR_PARSE, "torn.xml:2");
    TRY(o.shapes = large, VPU_ERR_LIMIT, "4 GiB");
    v.dims[0] = 8;
    api_ok(vpu_graph_view(g, x, &v, &part, &api_err));
    TRY((o.n_shapes = 0, o.inputs = &part, o.n_inputs = 1), VPU_ERR_UNSUPPORTED,
        "view0 is a view; a layer of a binding file takes whole tensors");
    shaped.shape = "1x1x1x1x8x8:f16";
    shaped.role = VPU_ROLE_INPUT;
    api_ok(vpu_graph_tensor(g, &shaped, &deep, &api_err));
    TRY((o.n_shapes = 0, o.inputs = &deep, o.n_inputs = 1), VPU_ERR_UNSUPPORTED,
        "has 6 dims");
#undef TRY
    /* The graph is as before: the layer fits. */
    api_ok(vpu_graph_add_layer(g, &good, &op, &api_err));
    api_fails(vpu_operation_set_real(op, "bias", 1, &api_err), VPU_ERR_INVALID,
              "is a layer");
    vpu_graph_free(g);
    vpu_graph_free(h);
    vpu_context_free(other);
}
END_TEST

START_TEST(layer_files_that_cannot_be_read)
{
    static const char entity[] = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
    const char *path = file_join(mem, dir, "entity.xml");
    char deep[65 * 3 + 1] = "";

    ck_assert(!file_write(path, entity, sizeof entity - 1, NULL));
    api_fails(vpu_context_register_layers(sim, path, &api_err),
              VPU_ERR_UNSUPPORTED, "entity declarations are refused");
    for (int i = 0; i < 65; i++)
        strcat(deep, "<a>");
    ck_assert(!file_write(path, deep, strlen(deep), NULL));
    api_fails(vpu_context_register_layers(sim, path, &api_err), VPU_ERR_LIMIT,
              "nested more than 64 deep");
}
END_TEST

/* What is first seen when kernels are compiled and bound. */
START_TEST(layers_whose_kernel_does_not_fit)
{
    static const char unknown[] =
        "__kernel void k(__global const half *x, __global half *y)\n{\n"
        "    y[0] = z;\n}\n";
    static const char floats[] =
        "__kernel void k(__global const float *x, __global half *y)\n{\n"
        "    y[0] = x[0];\n}\n";
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_layer(g, dir, "k.cl", unknown);
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_COMPILE, "k.cl:3:12");
    vpu_graph_free(g);
    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_layer(g, dir, "k.cl", floats);
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_MISMATCH,
              "is __global float* in");
    vpu_graph_free(g);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("layers");
    Suite *suite = suite_create("library: layers of binding files");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, as_vpu_run, 0, N_LAYERS);
    tcase_add_test(t, as_the_plug_in_says);
    tcase_add_test(t, a_batch_by_item);
    tcase_add_test(t, layers_and_kernels_in_one_graph);
    tcase_add_test(t, two_layers_side_by_side);
    tcase_add_test(t, layers_that_do_not_fit);
    tcase_add_test(t, layer_files_that_cannot_be_read);
    tcase_add_test(t, layers_whose_kernel_does_not_fit);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
