/* A small network for digits, as facts about libraries of this kind are told
 * of: each test is called as its fact. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/api/api.h"

enum { SIDE = 28, CLASSES = 10, DEEP = 8 * 4 * 4 };

static vpu_context *sim;

static void setup(void)
{
    sim = api_context(NULL);
}

static void teardown(void)
{
    vpu_context_free(sim);
}

/* Number i of a layer's weights. */
static float weight(int i, int layer)
{
    return (float)((i * 7 + layer * 13) % 29 - 14) / 64;
}

/* --- the network ---------------------------------------------------------- */

/* The largest of four, plane by plane. */
static const char pool_source[] =
    "__kernel void pool(__global const float *x, __global float *y)\n"
    "{\n"
    "    int i = get_global_id(0), w = get_global_size(0);\n"
    "    int j = get_global_id(1), h = get_global_size(1);\n"
    "    int c = get_global_id(2);\n"
    "    __global const float *p = x + ((c * h + j) * 2 * w + i) * 2;\n"
    "    y[(c * h + j) * w + i] = fmax(fmax(p[0], p[1]),\n"
    "                                  fmax(p[2 * w], p[2 * w + 1]));\n"
    "}\n";

/* Of the network alone. */
static const char softmax_source[] =
    "__kernel void own_softmax(__global const float *x, __global float *y,\n"
    "                          int n)\n"
    "{\n"
    "    float most = x[0], sum = 0;\n"
    "    for (int i = 1; i < n; i++)\n"
    "        most = fmax(most, x[i]);\n"
    "    for (int i = 0; i < n; i++)\n"
    "        sum += exp(x[i] - most);\n"
    "    for (int i = 0; i < n; i++)\n"
    "        y[i] = exp(x[i] - most) / sum;\n"
    "}\n";

static void register_pool(const char *name, const char *shape)
{
    static const char *const in[] = {"x"}, *const out[] = {"y"};
    vpu_kind k = VPU_KIND_INIT;

    k.name = name;
    k.source = pool_source;
    k.inputs = in;
    k.outputs = out;
    k.n_inputs = k.n_outputs = 1;
    k.shapes = &shape;
    k.global = "in0_3/2,in0_2/2,in0_1";
    api_ok(vpu_context_register(sim, &k, &api_err));
}

static vpu_tensor *constant(vpu_graph *g, const char *shape, int layer)
{
    static float data[CLASSES * DEEP];
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    for (int i = 0; i < CLASSES * DEEP; i++)
        data[i] = weight(i, layer);
    o.role = VPU_ROLE_CONSTANT;
    o.shape = shape;
    o.data = data;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    ck_assert_uint_le(vpu_tensor_bytes(t), sizeof data);
    return t;
}

static vpu_tensor *add(vpu_graph *g, const char *kind, vpu_tensor *x,
                       const char *const shapes[2], int layer)
{
    vpu_tensor *in[3] = {x};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.inputs = in;
    o.n_inputs = 1;
    for (int i = 0; i < 2 && shapes; i++)
        in[o.n_inputs++] = constant(g, shapes[i], layer + i);
    api_ok(vpu_graph_add(g, kind, &o, &op, &api_err));
    return vpu_operation_output(op, 0);
}

/* The operation that is no kind: a kernel as a string. */
static vpu_tensor *add_own_softmax(vpu_graph *g, vpu_tensor *x)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_program *p = api_program(sim, softmax_source);
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_tensor *y = api_tensor(g, "own", VPU_ROLE_VIRTUAL, VPU_F32, CLASSES);

    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    l.global[0] = 1;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", CLASSES, &api_err));
    vpu_program_free(p);
    return y;
}

/* The probabilities of an image, and the launches that they took. */
static size_t classify(bool own, float out[CLASSES])
{
    static const char *const shapes[][2] = {{"4x1x5x5:f32", "4:f32"},
                                            {"8x4x5x5:f32", "8:f32"},
                                            {"10x128:f32", "10:f32"}};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *x, *y;
    vpu_operation *op;
    vpu_graph *g;
    vpu_result *r;
    size_t launches;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    t.role = VPU_ROLE_INPUT;
    t.shape = "1x1x28x28:f32";
    api_ok(vpu_graph_tensor(g, &t, &x, &api_err));
    y = add(g, "convolution", x, shapes[0], 1);
    y = add(g, "pool", y, NULL, 0);
    y = add(g, "convolution", y, shapes[1], 3);
    y = add(g, "pool_flat", y, NULL, 0);
    y = add(g, "fully_connected", y, shapes[2], 5);
    y = own ? add_own_softmax(g, y) : add(g, "softmax", y, NULL, 0);
    o.name = "probabilities";
    o.inputs = &y;
    o.n_inputs = 1;
    o.output_role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_add(g, "copy", &o, &op, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    memcpy(out, vpu_tensor_data(vpu_operation_output(op, 0)),
           CLASSES * sizeof *out);
    launches = vpu_result_launch_count(r);
    vpu_result_free(r);
    vpu_graph_free(g);
    return launches;
}

/* --- in plain C ----------------------------------------------------------- */

typedef struct {
    int channels, side; /* of the input */
    int filters, layer;
} convolution;

/* Five by five, then the largest of four. */
static void convolve_and_pool(const convolution *c, const float *x, float *y)
{
    int side = c->side - 4, half = side / 2;

    for (int i = 0; i < c->filters * half * half; i++)
        y[i] = -INFINITY;
    for (int f = 0; f < c->filters; f++)
        for (int at = 0; at < side * side; at++) {
            int to = (f * half + at / side / 2) * half + at % side / 2;
            float sum = weight(f, c->layer + 1);

            for (int k = 0; k < c->channels * 25; k++)
                sum += x[(k / 25 * c->side + at / side + k / 5 % 5) * c->side +
                         at % side + k % 5] *
                       weight(f * c->channels * 25 + k, c->layer);
            y[to] = fmaxf(y[to], sum);
        }
}

static void classify_in_c(double out[CLASSES])
{
    static const convolution first = {1, SIDE, 4, 1}, second = {4, 12, 8, 3};
    float x[SIDE * SIDE], a[4 * 12 * 12], b[DEEP];
    double most = -INFINITY, sum = 0;

    for (int i = 0; i < SIDE * SIDE; i++)
        x[i] = (float)(i % 256) / 256;
    convolve_and_pool(&first, x, a);
    convolve_and_pool(&second, a, b);
    for (int i = 0; i < CLASSES; i++) {
        out[i] = (double)weight(i, 6);
        for (int k = 0; k < DEEP; k++)
            out[i] += (double)(b[k] * weight(i * DEEP + k, 5));
        most = fmax(most, out[i]);
    }
    for (int i = 0; i < CLASSES; i++)
        sum += out[i] = exp(out[i] - most);
    for (int i = 0; i < CLASSES; i++)
        out[i] /= sum;
}

/* --- facts ---------------------------------------------------------------- */

START_TEST(own_kernel_in_place_of_a_layer_gives_the_same_network)
{
    float built_in[CLASSES], own[CLASSES];
    double wanted[CLASSES], sum = 0;

    register_pool("pool", "in0_0,in0_1,in0_2/2,in0_3/2");
    register_pool("pool_flat", "in0_0,in0_1*(in0_2/2)*(in0_3/2)");
    ck_assert_uint_eq(classify(false, built_in), classify(true, own));
    ck_assert_mem_eq(built_in, own, sizeof own);
    classify_in_c(wanted);
    for (int i = 0; i < CLASSES; i++) {
        ck_assert_double_eq_tol((double)own[i], wanted[i], 1e-4);
        sum += (double)own[i];
    }
    ck_assert_double_eq_tol(sum, 1, 1e-5);
    /* The image does decide something. */
    for (int i = 1; i < CLASSES; i++)
        ck_assert_float_ne(own[i], own[0]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("facts");
    Suite *suite = suite_create("library: a small network");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, own_kernel_in_place_of_a_layer_gives_the_same_network);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
