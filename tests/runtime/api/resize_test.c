/* Graphs at other shapes, in the memory that they have: bytes are those of a
 * graph that was made so. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/api/api.h"

static vpu_context *c;
static uint32_t seed;

static void setup(void)
{
    c = api_context(NULL);
    seed = 1;
}

static void teardown(void)
{
    vpu_context_free(c);
}

static float some(void)
{
    seed = seed * 1664525 + 1013904223;
    return (float)(seed >> 24) / 64 - 2;
}

static vpu_tensor *tensor(vpu_graph *g, const char *name, uint32_t role,
                          uint32_t rank, const uint32_t *dims)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    float data[4096];
    vpu_tensor *t;

    o.name = name;
    o.role = role;
    o.type = VPU_F32;
    o.rank = rank;
    memcpy(o.dims, dims, rank * sizeof *dims);
    if (role == VPU_ROLE_CONSTANT) {
        for (int i = 0; i < 4096; i++)
            data[i] = some();
        o.data = data;
    }
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

static vpu_tensor *constant(vpu_graph *g, const char *name, uint32_t rank,
                            const uint32_t *dims)
{
    return tensor(g, name, VPU_ROLE_CONSTANT, rank, dims);
}

static vpu_tensor *add(vpu_graph *g, const char *kind, const char *name,
                       vpu_tensor *const *in, size_t n_in,
                       const vpu_value *values, size_t n_values)
{
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.name = name;
    o.inputs = in;
    o.n_inputs = n_in;
    o.values = values;
    o.n_values = n_values;
    o.output_role = name && *name == 'y' ? VPU_ROLE_OUTPUT : 0;
    api_ok(vpu_graph_add(g, kind, &o, &op, &api_err));
    return vpu_operation_output(op, 0);
}

/* --- the graphs, made at a shape of input x ------------------------------- */

/* Two fully connected layers in a row. */
static void two_connected(vpu_graph *g, vpu_tensor *x)
{
    static const uint32_t w0[] = {24, 16}, b0[] = {24}, w1[] = {5, 24},
                          b1[] = {5};
    vpu_tensor *first[] = {x, constant(g, "w0", 2, w0),
                           constant(g, "b0", 1, b0)};
    vpu_tensor *second[] = {NULL, constant(g, "w1", 2, w1),
                            constant(g, "b1", 1, b1)};
    vpu_tensor *m = add(g, "fully_connected", "first", first, 3, NULL, 0);

    second[0] = add(g, "relu", "bent", &m, 1, NULL, 0);
    add(g, "fully_connected", "y", second, 3, NULL, 0);
}

/* Five convolutions, whose images become smaller. */
static void five_convolutions(vpu_graph *g, vpu_tensor *x)
{
    static const uint32_t w[] = {3, 3, 3, 3}, b[] = {3};
    static const char *const names[] = {"c0", "c1", "c2", "c3", "y"};

    for (int i = 0; i < 5; i++) {
        const vpu_value v[] = {{"stride", 0, 1 + (i == 2), 0},
                               {"pad", 0, i % 2, 0}};
        char weights[16], bias[16];
        vpu_tensor *in[3] = {x};

        snprintf(weights, sizeof weights, "w%d", i);
        snprintf(bias, sizeof bias, "b%d", i);
        in[1] = constant(g, weights, 4, w);
        in[2] = constant(g, bias, 1, b);
        x = add(g, "convolution", names[i], in, 3, v, 2);
    }
}

/* Kinds with numbers that callbacks find, in a composed operation. */
static void mixed(vpu_graph *g, vpu_tensor *x)
{
    const vpu_value turn[] = {
        {"axis0", 0, 1, 0}, {"axis1", 0, 2, 0}, {"axis2", 0, 0, 0}};
    const vpu_value axis = {"axis", 0, 1, 0};
    const vpu_value across = {"transpose_b", 0, 1, 0};
    vpu_operation *all;
    vpu_tensor *pair[2] = {x, x};

    api_ok(vpu_graph_begin(g, "all", &all, &api_err));
    pair[0] = add(g, "permute", "turned", pair, 1, turn, 3);
    pair[1] = add(g, "softmax", "soft", pair, 1, &axis, 1);
    pair[0] = add(g, "concat", "joined", pair, 2, &axis, 1);
    pair[1] = pair[0];
    pair[0] = add(g, "matmul", "product", pair, 2, &across, 1);
    api_ok(vpu_graph_end(all, &api_err));
    add(g, "copy", "y", pair, 1, NULL, 0);
}

/* A layer of a binding file between two kinds: several launches, with DMA. */
static void layers(vpu_graph *g, vpu_tensor *x)
{
    static const char *const binding[] = {"kernels/grn/layer.xml",
                                          "kernels/mvn/layer.xml"};
    static const char *const params[] = {"bias=0.5", "eps=0.001"};
    const vpu_value half = {"type", 0, VPU_F16, 0},
                    single = {"type", 0, VPU_F32, 0};
    vpu_tensor *t = add(g, "convert", "halves", &x, 1, &half, 1);

    for (int i = 0; i < 2; i++) {
        vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
        vpu_operation *op;

        o.bindings = &binding[i];
        o.params = &params[i];
        o.n_bindings = o.n_params = 1;
        o.layer = i ? "MVN" : "GRNDma";
        o.inputs = &t;
        o.n_inputs = 1;
        o.virtual_output = 1;
        api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
        t = vpu_operation_output(op, 0);
    }
    add(g, "convert", "y", &t, 1, &single, 1);
}

static const struct {
    void (*make)(vpu_graph *g, vpu_tensor *x);
    uint32_t rank;
    uint32_t dims[5][4]; /* the first is that of finalizing; 0 ends */
} graphs[] = {
    {two_connected, 2, {{8, 16}, {6, 16}, {8, 16}, {1, 16}}},
    {five_convolutions,
     4,
     {{2, 3, 24, 30}, {1, 3, 20, 17}, {2, 3, 24, 30}, {1, 3, 24, 30}}},
    {layers,
     4,
     {{1, 8, 12, 32},
      {1, 4, 12, 32},
      {1, 8, 6, 16},
      {1, 8, 6, 13},
      {1, 8, 12, 32}}},
    {mixed, 3, {{3, 8, 10}, {2, 8, 10}, {3, 5, 4}, {1, 1, 1}, {3, 8, 10}}},
};
enum { N_GRAPHS = sizeof graphs / sizeof *graphs };

static vpu_graph *make(vpu_context *on, int i, const uint32_t *dims)
{
    vpu_graph *g;

    seed = 7; /* weights are the same whatever the shape */
    api_ok(vpu_graph_create(&g, on, &api_err));
    graphs[i].make(g, tensor(g, "x", VPU_ROLE_INPUT, graphs[i].rank, dims));
    api_ok(vpu_graph_finalize(g, &api_err));
    return g;
}

static vpu_status resize(vpu_graph *g, uint32_t rank, const uint32_t *dims)
{
    vpu_tensor *x = vpu_graph_tensor_named(g, "x");
    vpu_shape s = {.rank = rank};

    memcpy(s.dims, dims, rank * sizeof *dims);
    return vpu_graph_resize(g, &x, &s, 1, &api_err);
}

/* Runs, and takes the bytes of y. */
static size_t run(vpu_graph *g, char *y, size_t most)
{
    vpu_tensor *x = vpu_graph_tensor_named(g, "x");
    vpu_tensor *out = vpu_graph_tensor_named(g, "y");
    size_t n = vpu_tensor_bytes(x) / 4, bytes = vpu_tensor_bytes(out);
    float *data = malloc(n * 4);

    seed = 99;
    for (size_t i = 0; i < n; i++)
        data[i] = some();
    api_ok(vpu_tensor_write(x, data, n * 4, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    ck_assert_uint_le(bytes, most);
    api_ok(vpu_tensor_read(out, y, bytes, &api_err));
    free(data);
    return bytes;
}

static void as_made_so(vpu_graph *g, vpu_context *on, int i,
                       const uint32_t *dims)
{
    static char resized[1 << 16], made[1 << 16];
    vpu_graph *fresh = make(on, i, dims);
    size_t n = run(g, resized, sizeof resized);

    ck_assert_uint_eq(run(fresh, made, sizeof made), n);
    ck_assert_mem_eq(resized, made, n);
    vpu_graph_free(fresh);
}

static void resize_each(vpu_context *on, int i)
{
    vpu_graph *g = make(on, i, graphs[i].dims[0]);
    void *x = vpu_tensor_data(vpu_graph_tensor_named(g, "x"));
    void *y = vpu_tensor_data(vpu_graph_tensor_named(g, "y"));

    for (int k = 0; k < 5 && graphs[i].dims[k][0]; k++) {
        api_ok(resize(g, graphs[i].rank, graphs[i].dims[k]));
        as_made_so(g, on, i, graphs[i].dims[k]);
        /* Nothing has moved. */
        ck_assert_ptr_eq(vpu_tensor_data(vpu_graph_tensor_named(g, "x")), x);
        ck_assert_ptr_eq(vpu_tensor_data(vpu_graph_tensor_named(g, "y")), y);
    }
    vpu_graph_free(g);
}

START_TEST(smaller_and_back)
{
    resize_each(c, _i);
}
END_TEST

START_TEST(smaller_and_back_on_opencl)
{
    vpu_context *opencl = api_context("opencl");

    resize_each(opencl, _i);
    vpu_context_free(opencl);
}
END_TEST

static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all, n = 0;

    ck_assert_int_eq(fscanf(f, "%ld %ld", &all, &n), 2);
    fclose(f);
    return n;
}

/* From 30 items to 3, one by one, many times: no memory more. */
START_TEST(one_by_one_in_the_same_memory)
{
    static char y[1 << 12];
    uint32_t most[] = {30, 16};
    vpu_graph *g = make(c, 0, most);
    long before = 0;

    for (int pass = 0; pass < 20; pass++) {
        for (uint32_t n = 30; n >= 3; n--) {
            uint32_t dims[] = {n, 16};

            api_ok(resize(g, 2, dims));
            ck_assert_uint_eq(run(g, y, sizeof y), n * 5 * 4);
            if (!pass && n % 9 == 3)
                as_made_so(g, c, 0, dims);
        }
        before = pass == 9 ? resident() : before;
    }
    if (!getenv("VPU_BUILD") || strstr(getenv("VPU_BUILD"), "/release"))
        ck_assert_int_lt(resident() - before, 64);
    vpu_graph_free(g);
}
END_TEST

/* What is refused leaves the graph as it was. */
START_TEST(shapes_that_are_refused)
{
    static const uint32_t large[] = {9, 16}, other[] = {8, 8}, flat[] = {64},
                          none[] = {0, 16};
    vpu_graph *g = make(c, 0, graphs[0].dims[0]), *second;
    vpu_tensor *y = vpu_graph_tensor_named(g, "y");
    vpu_shape s = {.type = VPU_I32, .rank = 2, .dims = {4, 16}};
    vpu_tensor *x = vpu_graph_tensor_named(g, "x");

    for (int k = 0; k < 2; k++) {
        api_fails(resize(g, 2, large), VPU_ERR_LIMIT, "x does not fit");
        api_fails(resize(g, 2, other), VPU_ERR_MISMATCH, "the last of them 8");
        api_fails(resize(g, 1, flat), VPU_ERR_MISMATCH, "x has 2 dims of f32");
        api_fails(resize(g, 2, none), VPU_ERR_LIMIT, "with 0 in dim 0");
        api_fails(vpu_graph_resize(g, &x, &s, 1, &api_err), VPU_ERR_MISMATCH,
                  "another type");
        api_fails(vpu_graph_resize(g, &y, &s, 1, &api_err), VPU_ERR_INVALID,
                  "y is no input");
        as_made_so(g, c, 0, graphs[0].dims[k]);
        ck_assert_uint_eq(vpu_tensor_dim(y, 0), graphs[0].dims[k][0]);
        if (!k)
            api_ok(resize(g, 2, graphs[0].dims[1]));
    }
    api_fails(vpu_diff_create(&(vpu_diff *){NULL}, g, g, NULL, &api_err),
              VPU_ERR_UNSUPPORTED, "graph a was resized");
    api_ok(vpu_graph_create(&second, c, &api_err));
    api_fails(vpu_graph_resize(second, NULL, NULL, 0, &api_err),
              VPU_ERR_INVALID, "not finalized");
    vpu_graph_free(second);
    vpu_graph_free(g);
}
END_TEST

/* An input is to be written at its new shape. */
START_TEST(inputs_to_be_written)
{
    vpu_graph *g = make(c, 0, graphs[0].dims[0]);
    static char y[1 << 10];

    run(g, y, sizeof y);
    api_ok(resize(g, 2, graphs[0].dims[1]));
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "x was never written");
    api_fails(
        vpu_tensor_read(vpu_graph_tensor_named(g, "y"), y, 6 * 5 * 4, &api_err),
        VPU_ERR_INVALID, "not run yet");
    vpu_graph_free(g);
}
END_TEST

START_TEST(operations_that_cannot_follow)
{
    static const uint32_t eight[] = {8}, four[] = {4};
    vpu_graph *g;
    vpu_tensor *x, *y, *v;
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    api_scaling s;

    api_scaling_open(&s, c, 8, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_fails(resize(s.graph, 1, four), VPU_ERR_UNSUPPORTED,
              "scale is a launch of sizes that are numbers");
    ck_assert_uint_eq(vpu_tensor_dim(s.x, 0), 8);
    api_scaling_close(&s);

    api_ok(vpu_graph_create(&g, c, &api_err));
    x = tensor(g, "x", VPU_ROLE_INPUT, 1, eight);
    y = add(g, "relu", "y", &x, 1, NULL, 0);
    o.dims[0] = 4;
    api_ok(vpu_graph_view(g, x, &o, &v, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_fails(resize(g, 1, four), VPU_ERR_UNSUPPORTED, "x has views");
    (void)y;
    vpu_graph_free(g);
}
END_TEST

/* A clone and its origin do not see one another's shapes. */
START_TEST(clones_of_other_shapes)
{
    vpu_graph *g = make(c, 3, graphs[3].dims[0]), *clone;

    api_ok(vpu_graph_clone(&clone, g, NULL, &api_err));
    api_ok(vpu_graph_finalize(clone, &api_err));
    api_ok(resize(clone, 3, graphs[3].dims[1]));
    as_made_so(g, c, 3, graphs[3].dims[0]);
    as_made_so(clone, c, 3, graphs[3].dims[1]);
    api_ok(resize(g, 3, graphs[3].dims[2]));
    as_made_so(clone, c, 3, graphs[3].dims[1]);
    as_made_so(g, c, 3, graphs[3].dims[2]);
    vpu_graph_free(clone);
    vpu_graph_free(g);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("resize");
    Suite *suite = suite_create("library: graphs at other shapes");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, smaller_and_back, 0, N_GRAPHS);
    tcase_add_loop_test(t, smaller_and_back_on_opencl, 0, N_GRAPHS);
    tcase_add_test(t, one_by_one_in_the_same_memory);
    tcase_add_test(t, shapes_that_are_refused);
    tcase_add_test(t, inputs_to_be_written);
    tcase_add_test(t, operations_that_cannot_follow);
    tcase_add_test(t, clones_of_other_shapes);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
