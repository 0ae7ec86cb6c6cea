/* Kinds of operations: the library's own against plain C, and the user's, with
 * expressions and with callbacks. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

static vpu_context *sim;
static vpu_graph *g;

static void setup(void)
{
    sim = api_context(NULL);
    api_ok(vpu_graph_create(&g, sim, &api_err));
}

static void teardown(void)
{
    vpu_graph_free(g);
    vpu_context_free(sim);
}

/* Element i of what stands for data. */
static float sample(int i, int seed)
{
    return (float)((i * 7 + seed * 13) % 29 - 14) / 4;
}

static vpu_tensor *constant(const char *shape, int seed)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    static float data[1 << 14];
    vpu_tensor *t;

    for (int i = 0; i < 1 << 14; i++)
        data[i] = sample(i, seed);
    o.role = VPU_ROLE_CONSTANT;
    o.shape = shape;
    o.data = data;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    ck_assert_uint_le(vpu_tensor_bytes(t), sizeof data);
    return t;
}

static vpu_status try_add(const char *kind, vpu_tensor *const *inputs,
                          size_t n_inputs, const vpu_value *values,
                          size_t n_values, vpu_operation **op)
{
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;

    o.inputs = inputs;
    o.n_inputs = n_inputs;
    o.values = values;
    o.n_values = n_values;
    o.output_role = VPU_ROLE_OUTPUT;
    return vpu_graph_add(g, kind, &o, op, &api_err);
}

static vpu_tensor *add(const char *kind, vpu_tensor *const *inputs,
                       size_t n_inputs, const vpu_value *values,
                       size_t n_values)
{
    vpu_operation *op;

    api_ok(try_add(kind, inputs, n_inputs, values, n_values, &op));
    return vpu_operation_output(op, 0);
}

static void run(void)
{
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
}

static const float *result(vpu_tensor *t)
{
    return vpu_tensor_data(t);
}

static bool near(float a, float b)
{
    return fabsf(a - b) <= 1e-5f + 1e-5f * fabsf(b);
}

static void has_shape(const vpu_tensor *t, uint32_t rank, uint32_t a,
                      uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t dims[] = {a, b, c, d};

    ck_assert_uint_eq(vpu_tensor_rank(t), rank);
    for (uint32_t i = 0; i < rank; i++)
        ck_assert_uint_eq(vpu_tensor_dim(t, i), dims[i]);
}

/* --- the library's own ---------------------------------------------------- */

START_TEST(element_for_element)
{
    static const char *const unary[] = {"copy", "relu",       "sigmoid",
                                        "tanh", "leaky_relu", "scale"};
    static const char *const binary[] = {"add", "subtract", "multiply",
                                         "maximum", "minimum"};
    const vpu_value slope = {"slope", 1, 0, 0.1};
    const vpu_value scaling[] = {{"factor", 1, 0, 3}, {"offset", 0, 2, 0}};
    vpu_tensor *in[] = {constant("2x3x40:f32", 1), constant("2x3x40:f32", 2)};
    vpu_tensor *u[6], *b[5];

    for (int i = 0; i < 6; i++)
        u[i] = add(unary[i], in, 1, i == 4 ? &slope : scaling,
                   i < 4 ? 0 : (size_t)(i - 3));
    for (int i = 0; i < 5; i++)
        b[i] = add(binary[i], in, 2, NULL, 0);
    run();
    for (int i = 0; i < 240; i++) {
        float x = sample(i, 1), y = sample(i, 2);
        const float wanted[] = {
            x,        x > 0 ? x : 0,        1 / (1 + expf(-x)),
            tanhf(x), x > 0 ? x : 0.1f * x, 3 * x + 2};
        const float both[] = {x + y, x - y, x * y, fmaxf(x, y), fminf(x, y)};

        for (int k = 0; k < 6; k++)
            ck_assert_msg(near(result(u[k])[i], wanted[k]), "%s of %g: %g",
                          unary[k], x, result(u[k])[i]);
        for (int k = 0; k < 5; k++)
            ck_assert_float_eq(result(b[k])[i], both[k]);
    }
}
END_TEST

START_TEST(converted)
{
    const vpu_value half = {"type", 0, VPU_F16, 0},
                    back = {"type", 0, VPU_F32, 0};
    const vpu_value integer = {"type", 0, VPU_I32, 0};
    vpu_tensor *x = constant("64:f32", 3), *h, *f, *i;

    h = add("convert", &x, 1, &half, 1);
    ck_assert_uint_eq(vpu_tensor_type(h), VPU_F16);
    f = add("convert", &h, 1, &back, 1);
    i = add("convert", &x, 1, &integer, 1);
    run();
    for (int k = 0; k < 64; k++) {
        ck_assert_float_eq(result(f)[k],
                           sample(k, 3)); /* quarters fit halves */
        ck_assert_int_eq(((int32_t *)vpu_tensor_data(i))[k],
                         (int32_t)sample(k, 3));
    }
}
END_TEST

START_TEST(permuted)
{
    const vpu_value two[] = {{"axis0", 0, 1, 0}, {"axis1", 0, 0, 0}};
    const vpu_value nhwc[] = {{"axis0", 0, 0, 0},
                              {"axis1", 0, 2, 0},
                              {"axis2", 0, 3, 0},
                              {"axis3", 0, 1, 0}};
    const vpu_value six[] = {{"axis0", 0, 5, 0}, {"axis1", 0, 0, 0},
                             {"axis2", 0, 4, 0}, {"axis3", 0, 1, 0},
                             {"axis4", 0, 3, 0}, {"axis5", 0, 2, 0}};
    vpu_tensor *m = constant("5x7:f32", 1), *t = constant("2x3x4x5:f32", 2);
    vpu_tensor *d = constant("2x3x2x4x3x5:f32", 3), *pm, *pt, *pd;

    pm = add("permute", &m, 1, two, 2);
    pt = add("permute", &t, 1, nhwc, 4);
    pd = add("permute", &d, 1, six, 6);
    has_shape(pm, 2, 7, 5, 0, 0);
    has_shape(pt, 4, 2, 4, 5, 3);
    run();
    for (int i = 0; i < 35; i++)
        ck_assert_float_eq(result(pm)[i], sample(i % 5 * 7 + i / 5, 1));
    for (int i = 0; i < 120; i++) {
        int c = i % 3, w = i / 3 % 5, h = i / 15 % 4, n = i / 60;

        ck_assert_float_eq(result(pt)[i],
                           sample(((n * 3 + c) * 4 + h) * 5 + w, 2));
    }
    for (int i = 0; i < 720; i++) {
        /* Output dims: 5, 2, 3, 3, 4, 2. */
        int d2 = i % 2, d3 = i / 2 % 4, d1 = i / 8 % 3, d4 = i / 24 % 3,
            d0 = i / 72 % 2, d5 = i / 144;

        ck_assert_float_eq(
            result(pd)[i],
            sample(((((d0 * 3 + d1) * 2 + d2) * 4 + d3) * 3 + d4) * 5 + d5, 3));
    }
}
END_TEST

START_TEST(concatenated)
{
    const vpu_value rows = {"axis", 0, 0, 0}, columns = {"axis", 0, -1, 0};
    vpu_tensor *in[] = {constant("3x8:f32", 1), constant("3x8:f32", 2)};
    vpu_tensor *r = add("concat", in, 2, &rows, 1);
    vpu_tensor *c = add("concat", in, 2, &columns, 1);

    has_shape(r, 2, 6, 8, 0, 0);
    has_shape(c, 2, 3, 16, 0, 0);
    run();
    for (int i = 0; i < 48; i++) {
        int y = i / 16, x = i % 16;

        ck_assert_float_eq(result(r)[i], sample(i % 24, 1 + i / 24));
        ck_assert_float_eq(result(c)[i], sample(y * 8 + x % 8, 1 + x / 8));
    }
}
END_TEST

START_TEST(softmaxed)
{
    const vpu_value middle = {"axis", 0, 1, 0};
    vpu_tensor *x = constant("2x5x6:f32", 4);
    vpu_tensor *m = add("softmax", &x, 1, &middle, 1);
    vpu_tensor *l = add("softmax", &x, 1, NULL, 0);

    run();
    for (int i = 0; i < 60; i++) {
        int row = i / 6 * 6, plane = i / 30 * 30 + i % 6;
        float across = 0, along = 0;

        for (int k = 0; k < 5; k++)
            across += expf(sample(plane + k * 6, 4));
        for (int k = 0; k < 6; k++)
            along += expf(sample(row + k, 4));
        ck_assert(near(result(m)[i], expf(sample(i, 4)) / across));
        ck_assert(near(result(l)[i], expf(sample(i, 4)) / along));
    }
}
END_TEST

/* All four ways to take two matrices, in two planes. */
START_TEST(multiplied)
{
    enum { M = 5, K = 7, N = 6 };
    vpu_tensor *y[4];

    for (int i = 0; i < 4; i++) {
        const vpu_value v[] = {{"transpose_a", 0, i & 1, 0},
                               {"transpose_b", 0, i >> 1, 0}};
        vpu_tensor *in[] = {constant(i & 1 ? "2x7x5:f32" : "2x5x7:f32", 1),
                            constant(i >> 1 ? "2x6x7:f32" : "2x7x6:f32", 2)};

        y[i] = add("matmul", in, 2, v, 2);
        has_shape(y[i], 3, 2, M, N, 0);
    }
    run();
    for (int i = 0; i < 4; i++)
        for (int at = 0; at < 2 * M * N; at++) {
            int n = at % N, m = at / N % M, z = at / N / M;
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += sample(z * M * K + (i & 1 ? k * M + m : m * K + k), 1) *
                       sample(z * K * N + (i >> 1 ? n * K + k : k * N + n), 2);
            ck_assert(near(result(y[i])[at], sum));
        }
}
END_TEST

START_TEST(connected_and_convolved)
{
    const vpu_value v[] = {{"stride", 0, 2, 0}, {"pad", 0, 1, 0}};
    vpu_tensor *fc[] = {constant("3x8:f32", 1), constant("4x8:f32", 2),
                        constant("4:f32", 3)};
    vpu_tensor *conv[] = {constant("2x3x7x9:f32", 4),
                          constant("4x3x3x3:f32", 5), constant("4:f32", 6)};
    vpu_tensor *f = add("fully_connected", fc, 3, NULL, 0);
    vpu_tensor *c = add("convolution", conv, 3, v, 2);

    has_shape(f, 2, 3, 4, 0, 0);
    has_shape(c, 4, 2, 4, 4, 5);
    run();
    for (int i = 0; i < 12; i++) {
        float sum = sample(i % 4, 3);

        for (int k = 0; k < 8; k++)
            sum += sample(i / 4 * 8 + k, 1) * sample(i % 4 * 8 + k, 2);
        ck_assert(near(result(f)[i], sum));
    }
    for (int i = 0; i < 160; i++) {
        int x = i % 5, y = i / 5 % 4, o = i / 20 % 4, n = i / 80;
        float sum = sample(o, 6);

        for (int k = 0; k < 27; k++) {
            int r = k / 3 % 3, q = k % 3, ch = k / 9;
            int iy = y * 2 + r - 1, ix = x * 2 + q - 1;

            if (iy >= 0 && iy < 7 && ix >= 0 && ix < 9)
                sum += sample(((n * 3 + ch) * 7 + iy) * 9 + ix, 4) *
                       sample(o * 27 + k, 5);
        }
        ck_assert(near(result(c)[i], sum));
    }
}
END_TEST

/* Every kind of the library runs on an OpenCL device, too. */
START_TEST(kinds_on_opencl)
{
    vpu_context *opencl = api_context("opencl");
    vpu_tensor *in[3];
    vpu_tensor *y;

    vpu_graph_free(g);
    api_ok(vpu_graph_create(&g, opencl, &api_err));
    in[0] = constant("3x8:f32", 1);
    in[1] = constant("4x8:f32", 2);
    in[2] = constant("4:f32", 3);
    y = add("fully_connected", in, 3, NULL, 0);
    y = add("relu", &y, 1, NULL, 0);
    y = add("softmax", &y, 1, NULL, 0);
    run();
    for (int row = 0; row < 3; row++) {
        float sum = 0;

        for (int i = 0; i < 4; i++)
            sum += result(y)[row * 4 + i];
        ck_assert(near(sum, 1));
    }
    vpu_graph_free(g);
    vpu_context_free(opencl);
    g = NULL;
}
END_TEST

static const struct {
    const char *kind, *shapes[3];
    vpu_value values[2];
    size_t n_values;
    vpu_status status;
    const char *words;
} unfit[] = {
    {"add", {"4:f32", "5:f32"}, {{0}}, 0, VPU_ERR_MISMATCH, "differ in shape"},
    {"add", {"4:f32", "4:f16"}, {{0}}, 0, VPU_ERR_MISMATCH, "differ in shape"},
    {"add", {"4:f32"}, {{0}}, 0, VPU_ERR_INVALID, "kind add takes 2"},
    {"ad", {"4:f32"}, {{0}}, 0, VPU_ERR_INVALID, "did you mean 'add'"},
    {"convert", {"4:f32"}, {{0}}, 0, VPU_ERR_INVALID, "needs a value 'type'"},
    {"convert", {"4:f32"}, {{"type", 0, 9, 0}}, 1, VPU_ERR_INVALID, "type 9"},
    {"convert",
     {"4:f32"},
     {{"type", 1, 0, 1}},
     1,
     VPU_ERR_INVALID,
     "is an integer"},
    {"convert",
     {"4:f32"},
     {{"tipe", 0, 1, 0}},
     1,
     VPU_ERR_INVALID,
     "did you mean 'type'"},
    {"convert",
     {"4:f32"},
     {{"type", 0, 1, 0}, {"type", 0, 2, 0}},
     2,
     VPU_ERR_INVALID,
     "given twice"},
    {"permute",
     {"4x5:f32"},
     {{"axis0", 0, 1, 0}},
     1,
     VPU_ERR_INVALID,
     "axis1 is 1"},
    {"permute",
     {"4x5:f32"},
     {{"axis0", 0, 2, 0}},
     1,
     VPU_ERR_INVALID,
     "axis0 is 2"},
    {"permute",
     {"4x5:f32"},
     {{"n0", 0, 2, 0}},
     1,
     VPU_ERR_INVALID,
     "takes no value 'n0'"},
    {"concat",
     {"4x5:f32", "3x6:f32"},
     {{"axis", 0, 0, 0}},
     1,
     VPU_ERR_MISMATCH,
     "dim 1 of"},
    {"concat",
     {"4x5:f32", "4x5:f32"},
     {{"axis", 0, 2, 0}},
     1,
     VPU_ERR_INVALID,
     "axis 2 of a tensor of 2"},
    {"softmax",
     {"4x5:f32"},
     {{"axis", 0, -3, 0}},
     1,
     VPU_ERR_INVALID,
     "axis -3"},
    {"matmul",
     {"4x5:f32", "4x5:f32"},
     {{0}},
     0,
     VPU_ERR_MISMATCH,
     "the rows of the second"},
    {"matmul", {"4:f32", "4:f32"}, {{0}}, 0, VPU_ERR_MISMATCH, "2 or more"},
    {"matmul", {"2x4x5:f32", "3x5x4:f32"}, {{0}}, 0, VPU_ERR_MISMATCH, "dim 0"},
    {"fully_connected",
     {"4x5:f32", "4x6:f32", "4:f32"},
     {{0}},
     0,
     VPU_ERR_MISMATCH,
     "the last of them 5"},
    {"fully_connected",
     {"4x5:f32", "4x5:f32", "5:f32"},
     {{0}},
     0,
     VPU_ERR_MISMATCH,
     "needs 4 elements"},
    {"convolution",
     {"1x3x4x4:f32", "2x4x3x3:f32", "2:f32"},
     {{0}},
     0,
     VPU_ERR_MISMATCH,
     "C equal to I"},
    {"convolution",
     {"1x3x4x4:f32", "2x3x5x3:f32", "2:f32"},
     {{0}},
     0,
     VPU_ERR_MISMATCH,
     "a window of 5"},
    {"convolution",
     {"1x3x4x4:f32", "2x3x3x3:f32", "2:f32"},
     {{"stride", 0, 0, 0}},
     1,
     VPU_ERR_INVALID,
     "stride is 0"},
};
enum { N_UNFIT = sizeof unfit / sizeof *unfit };

START_TEST(what_does_not_fit)
{
    vpu_tensor *in[3], *y;
    vpu_operation *op;
    size_t n = 0;

    while (n < 3 && unfit[_i].shapes[n]) {
        in[n] = constant(unfit[_i].shapes[n], (int)n);
        n++;
    }
    api_fails(try_add(unfit[_i].kind, in, n, unfit[_i].values,
                      unfit[_i].n_values, &op),
              unfit[_i].status, unfit[_i].words);
    ck_assert_ptr_null(op);
    /* The graph is as before. */
    ck_assert_ptr_null(vpu_graph_tensor_at(g, VPU_ROLE_OUTPUT, 0));
    y = add("copy", in, 1, NULL, 0);
    run();
    ck_assert_uint_eq(vpu_tensor_bytes(y), vpu_tensor_bytes(in[0]));
}
END_TEST

/* --- a matrix product of the user's own ----------------------------------- */

static const char gemm[] =
    "__kernel void gemm(__global const VPU_IN0 *a, __global const VPU_IN1 *b,\n"
    "                   __global VPU_OUT0 *y, int m, int k, int n, float alpha,\n"
    "                   int transposed)\n"
    "{\n"
    "    int column = get_global_id(0), row = get_global_id(1);\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < k; i++)\n"
    "        sum += (float)a[row * k + i] *\n"
    "               (float)(transposed ? b[column * k + i] : b[i * n + column]);\n"
    "    y[row * n + column] = (VPU_OUT0)(alpha * sum);\n"
    "}\n";

static const char *const gemm_inputs[] = {"a", "b"}, *const gemm_outputs[] = {
                                                         "y"};
static const char *const gemm_shapes[] = {"in0_0,n"};
static const vpu_parameter gemm_parameters[] = {
    {.name = "m", .expression = "in0_0"},
    {.name = "k", .expression = "in0_1"},
    {.name = "n", .expression = "in1_1+transposed*(in1_0-in1_1)"},
    {.name = "alpha", .is_real = 1, .optional = 1, .preset = 1},
    {.name = "transposed", .optional = 1}};

static vpu_kind gemm_kind(void)
{
    vpu_kind k = VPU_KIND_INIT;

    k.name = "gemm";
    k.source = gemm;
    k.inputs = gemm_inputs;
    k.n_inputs = 2;
    k.outputs = gemm_outputs;
    k.n_outputs = 1;
    k.parameters = gemm_parameters;
    k.n_parameters = 5;
    k.shapes = gemm_shapes;
    k.global = "n,m";
    return k;
}

static vpu_tensor *matrix(const char *shape, const float *data)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    o.role = VPU_ROLE_CONSTANT;
    o.shape = shape;
    o.data = data;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

/* The three graphs of TIM-VX's sample: alone, behind another operation, two in
 * a row. */
START_TEST(gemm_alone)
{
    static const float a[] = {-1, 2, -3, 4, -5, 6, 1, -2, 3, -4, 5, -6};
    const vpu_kind k = gemm_kind();
    float b[12], wanted[4];
    vpu_tensor *in[2], *y;

    /* Chosen so that the product is the one of the sample. */
    for (int i = 0; i < 12; i++)
        b[i] = (float)(i % 2 ? i % 5 - 2 : 2 - i % 3);
    for (int i = 0; i < 4; i++) {
        wanted[i] = 0;
        for (int n = 0; n < 6; n++)
            wanted[i] += a[i / 2 * 6 + n] * b[n * 2 + i % 2];
    }
    api_ok(vpu_context_register(sim, &k, &api_err));
    in[0] = matrix("2x6:f32", a);
    in[1] = matrix("6x2:f32", b);
    y = add("gemm", in, 2, NULL, 0);
    has_shape(y, 2, 2, 2, 0, 0);
    run();
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(result(y)[i], wanted[i]);
}
END_TEST

START_TEST(gemm_golden_values)
{
    /* Two rows of six, six rows of two, as one outer number times each: -36,
     * -27, 36, 27 are printed in the page of facts. */
    static const float a[] = {1, 1, 1, 1, 1, 4, -1, -1, -1, -1, -1, -4};
    static const float b[] = {-4, -3, -4, -3, -4, -3, -4, -3, -4, -3, -4, -3};
    static const float golden[] = {-36, -27, 36, 27};
    const vpu_kind k = gemm_kind();
    vpu_tensor *in[2], *y;

    api_ok(vpu_context_register(sim, &k, &api_err));
    in[0] = matrix("2x6:f32", a);
    in[1] = matrix("6x2:f32", b);
    y = add("gemm", in, 2, NULL, 0);
    run();
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(result(y)[i], golden[i]);
}
END_TEST

START_TEST(gemm_behind_add)
{
    static const float one[] = {1, 1, 1, 1};
    const vpu_kind k = gemm_kind();
    const vpu_value alpha[] = {{"alpha", 1, 0, 0.5}, {"transposed", 0, 1, 0}};
    vpu_tensor *in[2], *sum, *y;

    api_ok(vpu_context_register(sim, &k, &api_err));
    in[0] = in[1] = matrix("2x2:f32", one);
    sum = add("add", in, 2, NULL, 0);
    in[0] = sum;
    y = add("gemm", in, 2, alpha, 2);
    run();
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(result(y)[i], 2);
}
END_TEST

START_TEST(gemm_twice)
{
    static const float one[] = {1, 1, 1, 1};
    const vpu_kind k = gemm_kind();
    vpu_tensor *in[2];

    api_ok(vpu_context_register(sim, &k, &api_err));
    in[0] = in[1] = matrix("2x2:f32", one);
    in[0] = add("gemm", in, 2, NULL, 0);
    in[0] = add("gemm", in, 2, NULL, 0);
    run();
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(result(in[0])[i], 4);
}
END_TEST

/* --- callbacks ------------------------------------------------------------ */

typedef struct {
    int asked[4], released;
} counting;

static vpu_status shape_asked(void *user, const vpu_call *c, size_t i,
                              vpu_shape *out, vpu_error *err)
{
    counting *n = user;

    (void)err;
    ck_assert_uint_eq(i, 0);
    ck_assert_uint_eq(c->n_outputs, 0);
    ck_assert_uint_eq(c->n_values, 5);
    n->asked[0]++;
    out->dims[1] = vpu_tensor_dim(c->inputs[1], 1);
    return VPU_OK;
}

static vpu_status variant_asked(void *user, const vpu_call *c, vpu_variant *out,
                                vpu_error *err)
{
    static const char *const options[] = {"-DUNUSED=1"};
    counting *n = user;

    (void)err;
    ck_assert_uint_eq(c->n_outputs, 1);
    n->asked[1]++;
    out->kernel = "gemm";
    out->build_options = options;
    out->n_build_options = 1;
    return VPU_OK;
}

static vpu_status sizes_asked(void *user, const vpu_call *c, vpu_sizes *out,
                              vpu_error *err)
{
    counting *n = user;

    n->asked[2]++;
    if (n->asked[2] == 3) {
        if (err) /* as a caller's function fills it */
            snprintf(err->msg, sizeof err->msg, "no more than two");
        return VPU_ERR_LIMIT;
    }
    out->global[0] = vpu_tensor_dim(c->outputs[0], 1);
    out->global[1] = vpu_tensor_dim(c->outputs[0], 0);
    out->local[0] = out->local[1] = out->local[2] = 1;
    return VPU_OK;
}

static void released(void *user)
{
    ((counting *)user)->released++;
}

START_TEST(callbacks_answer)
{
    static const float one[] = {1, 1, 1, 1};
    counting n = {{0}, 0};
    vpu_kind k = gemm_kind();
    vpu_tensor *in[2], *y;
    vpu_operation *op;

    k.find_shape = shape_asked;
    k.find_variant = variant_asked;
    k.find_sizes = sizes_asked;
    k.user = &n;
    k.release = released;
    api_ok(vpu_context_register(sim, &k, &api_err));
    in[0] = in[1] = matrix("2x2:f32", one);
    in[0] = add("gemm", in, 2, NULL, 0);
    y = add("gemm", in, 2, NULL, 0);
    api_fails(try_add("gemm", in, 2, NULL, 0, &op), VPU_ERR_LIMIT,
              "gemm: no more than two");
    run();
    ck_assert_float_eq(result(y)[3], 4);
    ck_assert_int_eq(n.asked[0], 3);
    ck_assert_int_eq(n.asked[1], 3);
    ck_assert_int_eq(n.released, 0);
    vpu_graph_free(g);
    vpu_context_free(sim);
    ck_assert_int_eq(n.released, 1);
    g = NULL;
    sim = NULL;
}
END_TEST

/* --- registering ---------------------------------------------------------- */

START_TEST(kinds_that_are_none)
{
    static const char *const twice[] = {"a", "a"};
    static const vpu_parameter doubled[] = {{.name = "p"}, {.name = "p"}};
    static const vpu_parameter computed[] = {{.name = "p", .computed = 1}};
    vpu_kind k;

#define TRY(change, words) \
    k = gemm_kind();       \
    change;                \
    api_fails(vpu_context_register(sim, &k, &api_err), VPU_ERR_INVALID, words)
    TRY(k.name = NULL, "name is NULL");
    TRY(k.source = NULL, "one of source and file");
    TRY(k.file = "x.cl", "one of source and file");
    TRY(k.inputs = NULL, "inputs is NULL");
    TRY(k.inputs = twice, "names 'a' twice");
    TRY(k.n_outputs = 0, "has no output");
    TRY(k.global = NULL, "how many work-items");
    TRY((k.parameters = doubled, k.n_parameters = 2), "there twice");
    TRY((k.parameters = computed, k.n_parameters = 1), "no find_value");
    TRY(k.struct_size = 0, "_INIT");
#undef TRY
}
END_TEST

/* What only the kernel tells. */
START_TEST(kinds_and_kernels_that_differ)
{
    static const float one[] = {1, 1, 1, 1};
    static const char *const wrong[] = {"a", "c"};
    vpu_parameter p[5];
    vpu_kind k;
    vpu_tensor *in[2];
    vpu_operation *op;

    in[0] = in[1] = matrix("2x2:f32", one);
#define TRY(change, st, words)                       \
    k = gemm_kind();                                 \
    memcpy(p, gemm_parameters, sizeof p);            \
    k.parameters = p;                                \
    change;                                          \
    api_ok(vpu_context_register(sim, &k, &api_err)); \
    api_fails(try_add("gemm", in, 2, NULL, 0, &op), st, words)
    TRY(p[0].name = "rows", VPU_ERR_INVALID, "argument 3 of kernel 'gemm'");
    TRY((p[0] = gemm_parameters[1], p[1] = gemm_parameters[0]), VPU_ERR_INVALID,
        "where kind gemm has parameter k");
    TRY(k.n_parameters = 4, VPU_ERR_PARSE, "transposed");
    TRY(k.inputs = wrong, VPU_ERR_INVALID, "no argument 'c'");
    TRY(k.global = "n,rows", VPU_ERR_PARSE, "rows");
    TRY(k.global = "n-2", VPU_ERR_INVALID, "size 0 of 'n-2' is 0");
    TRY(k.global = "1,1,1,1", VPU_ERR_INVALID, "more than 3");
    TRY(k.local = "n+1", VPU_ERR_INVALID, "does not divide");
    TRY(k.kernel = "gemv", VPU_ERR_COMPILE, "gemm");
#undef TRY
}
END_TEST

START_TEST(kinds_are_replaced)
{
    static const char *const x[] = {"x"}, *const y[] = {"y"};
    vpu_kind k = VPU_KIND_INIT;
    vpu_tensor *in = constant("8:f32", 1), *before, *after;
    size_t n = 0, again = 0;
    const char *name;

    while (vpu_context_kind(sim, n))
        n++;
    before = add("relu", &in, 1, NULL, 0);
    k.name = "relu";
    k.source = "__kernel void f(__global const float *x, __global float *y)\n"
               "{ y[get_global_id(0)] = 7; }\n";
    k.inputs = x;
    k.outputs = y;
    k.n_inputs = k.n_outputs = 1;
    k.global = "X*Y*F*B";
    api_ok(vpu_context_register(sim, &k, &api_err));
    ck_assert_ptr_null(vpu_context_kind(sim, n));
    after = add("relu", &in, 1, NULL, 0);
    k.name = "seven";
    api_ok(vpu_context_register(sim, &k, &api_err));
    api_ok(vpu_context_register(sim, &k, &api_err));
    while ((name = vpu_context_kind(sim, again)))
        again++;
    ck_assert_uint_eq(again, n + 1);
    ck_assert_str_eq(vpu_context_kind(sim, n), "seven");
    run();
    ck_assert_float_eq(result(before)[0], fmaxf(sample(0, 1), 0));
    ck_assert_float_eq(result(after)[0], 7);
}
END_TEST

/* --- composed operations -------------------------------------------------- */

/* A recurrent cell: tanh(fully_connected(x) + fully_connected(h)). */
static vpu_tensor *cell(vpu_tensor *x, vpu_tensor *h, vpu_tensor *wx,
                        vpu_tensor *wh, vpu_tensor *b, vpu_operation **out)
{
    vpu_tensor *in[3] = {x, wx, b}, *sum[2];

    api_ok(vpu_graph_begin(g, "cell", out, &api_err));
    sum[0] = add("fully_connected", in, 3, NULL, 0);
    in[0] = h;
    in[1] = wh;
    sum[1] = add("fully_connected", in, 3, NULL, 0);
    sum[0] = add("add", sum, 2, NULL, 0);
    sum[0] = add("tanh", sum, 1, NULL, 0);
    api_ok(vpu_graph_end(*out, &api_err));
    return sum[0];
}

START_TEST(composed_operations)
{
    vpu_tensor *x = constant("2x8:f32", 1), *h = constant("2x4:f32", 2);
    vpu_tensor *wx = constant("4x8:f32", 3), *wh = constant("4x4:f32", 4);
    vpu_tensor *b = constant("4:f32", 5);
    vpu_operation *both, *one, *two, *op;
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *timeline;
    double stages, cycles;
    vpu_result *r;
    size_t n;

    o.trace_json = file_join(a, dir, "t.json");
    api_ok(vpu_graph_begin(g, "two steps", &both, &api_err));
    h = cell(x, h, wx, wh, b, &one);
    h = cell(x, h, wx, wh, b, &two);
    api_fails(vpu_graph_end(one, &api_err), VPU_ERR_INVALID, "already");
    api_ok(vpu_graph_begin(g, "open", &op, &api_err));
    api_fails(vpu_graph_end(both, &api_err), VPU_ERR_INVALID,
              "before its part two steps/open");
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "two steps/open was begun");
    api_ok(vpu_graph_end(op, &api_err));
    api_ok(vpu_graph_end(both, &api_err));
    api_ok(try_add("copy", &h, 1, NULL, 0, &op));
    api_fails(vpu_graph_end(op, &api_err), VPU_ERR_INVALID, "not composed");
    ck_assert_str_eq(vpu_operation_name(two), "two steps/cell");
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, &o, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 9);
    ck_assert_str_eq(vpu_result_launch_name(r, 3), "two steps/cell/tanh");
    ck_assert_uint_eq(vpu_result_operation_cycles(r, both),
                      vpu_result_operation_cycles(r, one) +
                          vpu_result_operation_cycles(r, two));
    ck_assert_uint_eq(vpu_result_cycles(r),
                      vpu_result_operation_cycles(r, both) +
                          vpu_result_operation_cycles(r, op));
    ck_assert_double_gt(vpu_result_operation_seconds(r, one), 0);
    for (int i = 0; i < 8; i++)
        ck_assert_float_le(fabsf(result(vpu_operation_output(op, 0))[i]), 1);
    /* As one in the report, with its stages, and in the timeline. */
    api_ok(vpu_result_counter(r, "operations.1.stages", &stages, &api_err));
    api_ok(vpu_result_counter(r, "operations.1.cycles", &cycles, &api_err));
    ck_assert_double_eq(stages, 4);
    ck_assert_double_eq(cycles, (double)vpu_result_operation_cycles(r, one));
    ck_assert_ptr_nonnull(
        strstr(vpu_result_text(r), "two steps/cell: an operation of 4 stages"));
    timeline = program_file(a, dir, "t.json", &n);
    ck_assert_ptr_nonnull(strstr(timeline, "\"two steps\""));
    ck_assert_ptr_nonnull(strstr(timeline, "\"two steps/cell\""));
    vpu_result_free(r);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

/* --- layer types as kinds ------------------------------------------------- */

/* x through the GRN of the samples, by name or as a layer: bytes and cycles. */
static uint64_t grn(vpu_context *c, bool by_name, uint16_t *out)
{
    static const char *const binding = "kernels/grn/layer.xml";
    static const char *const bias = "bias=0.5", *const shape = "in0=1x8x6x16";
    const vpu_value value = {"bias", 1, 0, 0.5};
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_layer_options l = VPU_LAYER_OPTIONS_INIT;
    vpu_tensor *x;
    vpu_operation *op;
    vpu_graph *own = g;
    vpu_result *r;
    uint64_t cycles;

    api_ok(vpu_graph_create(&g, c, &api_err));
    if (by_name) {
        t.role = VPU_ROLE_INPUT;
        t.shape = "1x8x6x16:f16";
        api_ok(vpu_graph_tensor(g, &t, &x, &api_err));
        api_ok(try_add("GRN", &x, 1, &value, 1, &op));
    } else {
        l.bindings = &binding;
        l.layer = "GRN";
        l.params = &bias;
        l.shapes = &shape;
        l.n_bindings = l.n_params = l.n_shapes = 1;
        api_ok(vpu_graph_add_layer(g, &l, &op, &api_err));
        x = vpu_operation_input(op, 0);
    }
    api_ok(vpu_tensor_fill(x, "random:3", &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    api_ok(
        vpu_tensor_read(vpu_operation_output(op, 0), out, 768 * 2, &api_err));
    cycles = vpu_result_cycles(r);
    vpu_result_free(r);
    vpu_graph_free(g);
    g = own;
    return cycles;
}

START_TEST(layer_types_by_name)
{
    const char *path = _i ? "kernels" : "kernels/grn/layer.xml";
    vpu_context *c = api_context(NULL);
    uint16_t a[768], b[768];
    bool found = false;
    const char *name;

    api_ok(vpu_context_register_layers(c, path, &api_err));
    for (size_t i = 0; (name = vpu_context_kind(c, i)); i++)
        found |= !strcmp(name, _i ? "MVN" : "GRNDma");
    ck_assert(found);
    ck_assert_uint_eq(grn(c, true, a), grn(c, false, b));
    ck_assert_mem_eq(a, b, sizeof a);
    vpu_context_free(c);
}
END_TEST

START_TEST(layer_types_on_opencl)
{
    vpu_context *c = api_context("opencl");
    uint16_t a[768], b[768];

    api_ok(vpu_context_register_layers(c, "kernels", &api_err));
    grn(c, true, a);
    grn(c, false, b);
    ck_assert_mem_eq(a, b, sizeof a);
    vpu_context_free(c);
}
END_TEST

START_TEST(layer_types_that_are_refused)
{
    const vpu_value wrong = {"bios", 1, 0, 0.5};
    vpu_tensor *x;
    vpu_operation *op;

    api_fails(
        vpu_context_register_layers(sim, "kernels/grn/nothing.xml", &api_err),
        VPU_ERR_IO, "nothing.xml");
    api_fails(vpu_context_register_layers(sim, "docs", &api_err), VPU_ERR_IO,
              "docs has no layer.xml");
    api_fails(vpu_context_register_layers(sim, "kernels/grn/grn.cl", &api_err),
              VPU_ERR_PARSE, "grn.cl");
    api_fails(vpu_context_register_layers(sim, NULL, &api_err), VPU_ERR_IO,
              "share/vpusim/kernels: give the path of your own");
    ck_assert_ptr_null(vpu_context_kind(sim, 100));
    api_ok(vpu_context_register_layers(sim, "kernels/grn", &api_err));
    x = constant("1x2x2x8:f16", 1);
    api_fails(try_add("GRN", &x, 1, &wrong, 1, &op), VPU_ERR_INVALID, "bios");
    api_fails(try_add("GRNN", &x, 1, NULL, 0, &op), VPU_ERR_INVALID,
              "did you mean 'GRN'");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("kinds");
    Suite *suite = suite_create("library: kinds of operations");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, element_for_element);
    tcase_add_test(t, converted);
    tcase_add_test(t, permuted);
    tcase_add_test(t, concatenated);
    tcase_add_test(t, softmaxed);
    tcase_add_test(t, multiplied);
    tcase_add_test(t, connected_and_convolved);
    tcase_add_test(t, kinds_on_opencl);
    tcase_add_loop_test(t, what_does_not_fit, 0, N_UNFIT);
    tcase_add_test(t, gemm_alone);
    tcase_add_test(t, gemm_golden_values);
    tcase_add_test(t, gemm_behind_add);
    tcase_add_test(t, gemm_twice);
    tcase_add_test(t, callbacks_answer);
    tcase_add_test(t, kinds_that_are_none);
    tcase_add_test(t, kinds_and_kernels_that_differ);
    tcase_add_test(t, kinds_are_replaced);
    tcase_add_test(t, composed_operations);
    tcase_add_loop_test(t, layer_types_by_name, 0, 2);
    tcase_add_test(t, layer_types_on_opencl);
    tcase_add_test(t, layer_types_that_are_refused);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
