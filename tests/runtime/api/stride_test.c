/* Tensors with padding, strides and borders, and the regions that stay valid.
 * Whatever is computed is computed in plain C, too. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graphfile/names.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

static vpu_context *c;
static vpu_graph *g;
static uint32_t seed;

static void open_on(const char *backend)
{
    c = api_context(backend);
    api_ok(vpu_graph_create(&g, c, &api_err));
}

static void setup(void)
{
    open_on(NULL);
    seed = 11;
}

static void teardown(void)
{
    vpu_graph_free(g);
    vpu_context_free(c);
}

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static vpu_tensor *make(const vpu_tensor_options *o)
{
    vpu_tensor *t;

    api_ok(vpu_graph_tensor(g, o, &t, &api_err));
    return t;
}

static vpu_tensor_options options(const char *name, uint32_t role,
                                  const char *shape)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;

    o.name = name;
    o.role = role;
    o.shape = shape;
    return o;
}

static vpu_tensor *plain(const char *name, uint32_t role, const char *shape)
{
    const vpu_tensor_options o = options(name, role, shape);

    return make(&o);
}

static vpu_operation *add(const char *kind, vpu_tensor *x, vpu_tensor *y)
{
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.inputs = &x;
    o.outputs = &y;
    o.n_inputs = o.n_outputs = 1;
    api_ok(vpu_graph_add(g, kind, &o, &op, &api_err));
    return op;
}

static void run(void)
{
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
}

static vpu_tensor *view(vpu_tensor *parent, const uint32_t *start,
                        const uint32_t *dims);

/* --- layouts -------------------------------------------------------------- */

/* Strides of the dims in any order, with or without room between. */
static void turn_dims(vpu_tensor_options *o)
{
    uint64_t bytes = 4;
    uint32_t left[VPU_MAX_RANK], n = o->rank;

    for (uint32_t i = 0; i < n; i++)
        left[i] = i;
    while (n) {
        uint32_t k = below(n), i = left[k];

        o->strides[i] = bytes + 4 * below(3);
        bytes =
            o->strides[i] * (o->pad_before[i] + o->dims[i] + o->pad_after[i]);
        left[k] = left[--n];
    }
}

/* A tensor of 1 to 6 dims with padding, strides, both, or neither. */
static vpu_tensor_options at_random(const char *name, uint32_t role,
                                    uint32_t rank, const uint32_t *dims)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    uint64_t bytes = 4;
    uint32_t what = below(4);

    o.name = name;
    o.role = role;
    o.type = VPU_I32;
    o.rank = rank;
    memcpy(o.dims, dims, rank * sizeof *dims);
    for (uint32_t i = rank; i--;) {
        if (what & 1) {
            o.pad_before[i] = below(3);
            o.pad_after[i] = below(3);
        }
        if (what & 2 && below(2)) {
            bytes += 4 * below(3);
            o.strides[i] = bytes;
        }
        bytes *= o.pad_before[i] + o.dims[i] + o.pad_after[i];
    }
    if (what & 2 && below(2))
        turn_dims(&o);
    if (!what && rank > 2)
        o.channels_last = below(2);
    return o;
}

static uint32_t some_dims(uint32_t *dims)
{
    uint32_t rank = 1 + below(VPU_MAX_RANK);

    for (uint32_t i = 0; i < rank; i++)
        dims[i] = 1 + below(rank > 4 ? 3 : 6);
    return rank;
}

/* Element i of a tensor, by its strides. */
static int32_t *element(vpu_tensor *t, uint32_t i)
{
    char *p = vpu_tensor_data(t);

    for (uint32_t d = vpu_tensor_rank(t); d--; i /= vpu_tensor_dim(t, d))
        p += i % vpu_tensor_dim(t, d) * vpu_tensor_stride(t, d);
    return (int32_t *)(void *)p;
}

static void expect_numbers(vpu_tensor *t, const int32_t *numbers)
{
    uint32_t n = (uint32_t)(vpu_tensor_bytes(t) / 4);
    int32_t *read = malloc(n * 4);

    api_ok(vpu_tensor_read(t, read, n * 4, &api_err));
    ck_assert_mem_eq(read, numbers, n * 4);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_int_eq(*element(t, i), numbers[i]);
    free(read);
}

static int32_t *some_numbers(uint32_t n)
{
    int32_t *list = malloc(n * 4);

    for (uint32_t i = 0; i < n; i++)
        list[i] = (int32_t)below(1 << 20);
    return list;
}

/* From any layout to any, by way of a virtual tensor of a third one. */
static void copy_at_random(void)
{
    uint32_t dims[VPU_MAX_RANK], rank = some_dims(dims), n = 1;
    vpu_tensor_options xo = at_random("x", VPU_ROLE_INPUT, rank, dims);
    vpu_tensor_options mo = at_random("m", VPU_ROLE_VIRTUAL, rank, dims);
    vpu_tensor_options yo = at_random("y", VPU_ROLE_OUTPUT, rank, dims);
    vpu_tensor *x = make(&xo), *m = make(&mo), *y = make(&yo);
    int32_t *numbers;

    for (uint32_t i = 0; i < rank; i++)
        n *= dims[i];
    numbers = some_numbers(n);
    ck_assert_uint_eq(vpu_tensor_bytes(x), n * 4);
    add("copy", x, m);
    add("copy", m, y);
    api_ok(vpu_tensor_write(x, numbers, n * 4, &api_err));
    run();
    expect_numbers(x, numbers);
    expect_numbers(y, numbers);
    free(numbers);
}

START_TEST(copies_between_layouts)
{
    seed = (uint32_t)_i;
    copy_at_random();
}
END_TEST

START_TEST(copies_between_layouts_on_opencl)
{
    teardown();
    open_on("opencl");
    seed = 100 + (uint32_t)_i;
    copy_at_random();
}
END_TEST

START_TEST(constants_and_files)
{
    vpu_tensor_options o = options("k", VPU_ROLE_CONSTANT, "2x3:i32");
    static const int32_t numbers[] = {5, -1, 7, 8, 2, 9};
    vpu_tensor *k, *y, *x, *z;
    vpu_run_options r = VPU_RUN_OPTIONS_INIT;
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *file = file_join(a, dir, "y.npy");

    o.data = numbers;
    o.pad_before[1] = 3;
    o.pad_after[0] = 1;
    k = make(&o);
    ck_assert_uint_eq(vpu_tensor_offset(k), 12);
    ck_assert_uint_eq(vpu_tensor_stride(k, 0), 24);
    ck_assert_uint_eq(vpu_tensor_memory_bytes(k), 72);
    o = options("y", VPU_ROLE_OUTPUT, "2x3:i32");
    o.strides[0] = 20;
    y = make(&o);
    o = options("x", VPU_ROLE_INPUT, "2x3:i32");
    o.pad_after[1] = 2;
    x = make(&o);
    z = plain("z", VPU_ROLE_OUTPUT, "2x3:i32");
    add("copy", k, y);
    add("copy", x, z);
    api_ok(vpu_tensor_fill(x, "zeros", &api_err));
    run();
    expect_numbers(y, numbers);
    api_ok(vpu_tensor_save(y, file, &api_err));
    api_ok(vpu_tensor_fill(x, file, &api_err)); /* from the file, elsewhere */
    expect_numbers(x, numbers);
    r.output = file_join(a, dir, "out");
    api_ok(vpu_graph_run(g, &r, NULL, &api_err));
    expect_numbers(z, numbers);
    api_ok(vpu_tensor_fill(x, "zeros", &api_err));
    api_ok(vpu_tensor_fill(x, file_join(a, r.output, "y.npy"), &api_err));
    expect_numbers(x, numbers);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

/* NCHW dims, NHWC memory: dims, views and copies are those of the dims. */
START_TEST(channels_last)
{
    static const uint32_t start[] = {0, 1, 0, 0}, part[] = {2, 2, 4, 5};
    vpu_tensor_options o = options("x", VPU_ROLE_INPUT, "2x3x4x5:i32");
    vpu_tensor *x, *y = plain("y", VPU_ROLE_OUTPUT, "2x2x4x5:i32");
    int32_t given[120], wanted[80];

    o.channels_last = 1;
    x = make(&o);
    ck_assert_uint_eq(vpu_tensor_stride(x, 0), 240);
    ck_assert_uint_eq(vpu_tensor_stride(x, 1), 4);
    ck_assert_uint_eq(vpu_tensor_stride(x, 2), 60);
    ck_assert_uint_eq(vpu_tensor_stride(x, 3), 12);
    ck_assert(!vpu_tensor_is_packed(x));
    for (int i = 0; i < 120; i++)
        given[i] = i * i;
    for (int i = 0; i < 80; i++)
        wanted[i] = given[i / 40 * 60 + 20 + i % 40];
    add("copy", view(x, start, part), y);
    api_ok(vpu_tensor_write(x, given, sizeof given, &api_err));
    run();
    for (int i = 0; i < 120; i++) /* channel by channel in memory */
        ck_assert_int_eq(((int32_t *)vpu_tensor_data(x))[i],
                         given[i / 60 * 60 + i % 3 * 20 + i % 60 / 3]);
    expect_numbers(y, wanted);
    o.name = "flat";
    o.shape = "4x5:i32";
    api_fails(vpu_graph_tensor(g, &o, &x, &api_err), VPU_ERR_INVALID, "");
}
END_TEST

static const struct {
    const char *shape, *words;
    uint32_t before, after, automatic, border;
    uint64_t strides[2];
    double value;
    vpu_status status;
} refused[] = {
    {"4x6:f32",
     "strides[0] is 26 bytes, no whole",
     0,
     0,
     0,
     0,
     {26, 0},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "strides[0] is 20 bytes: what is within one step of that dim takes 24",
     0,
     0,
     0,
     0,
     {20, 0},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "strides[1] is 2 bytes",
     0,
     0,
     0,
     0,
     {0, 2},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "strides[0] is 24 bytes: what is within one step of that dim takes 32",
     1,
     1,
     0,
     0,
     {24, 0},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "a border is given, but no padding",
     0,
     0,
     0,
     VPU_BORDER_REPLICATE,
     {0, 0},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32", "border is 4", 1, 1, 0, 4, {0, 0}, 0, VPU_ERR_INVALID},
    {"4x6:u8",
     "border_value is -1, for elements of u8",
     1,
     1,
     0,
     VPU_BORDER_CONSTANT,
     {0, 0},
     -1,
     VPU_ERR_INVALID},
    {"4x6:i32",
     "border_value is 0.5",
     1,
     1,
     0,
     VPU_BORDER_CONSTANT,
     {0, 0},
     0.5,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "auto_padding is asked for",
     1,
     0,
     1,
     0,
     {0, 0},
     0,
     VPU_ERR_INVALID},
    {"4x6:f32",
     "strides of dim 0 the tensor takes more than",
     0,
     0,
     0,
     0,
     {UINT64_C(1) << 40, 0},
     0,
     VPU_ERR_LIMIT},
    {"4x6:f32",
     "of dim 1 the tensor takes more than",
     UINT32_MAX,
     0,
     0,
     0,
     {0, 0},
     0,
     VPU_ERR_LIMIT},
};
enum { N_REFUSED = sizeof refused / sizeof *refused };

START_TEST(refused_layouts)
{
    vpu_tensor_options o = options("t", VPU_ROLE_INPUT, refused[_i].shape);
    vpu_tensor *t;

    o.pad_before[1] = refused[_i].before;
    o.pad_after[1] = refused[_i].after;
    o.auto_padding = refused[_i].automatic;
    o.border = refused[_i].border;
    o.border_value = refused[_i].value;
    memcpy(o.strides, refused[_i].strides, sizeof refused[_i].strides);
    api_fails(vpu_graph_tensor(g, &o, &t, &api_err), refused[_i].status,
              refused[_i].words);
    ck_assert_ptr_null(t);
}
END_TEST

/* Offset, strides and size, in elements. */
static const struct {
    const char *shape;
    uint32_t offset, size, strides[3];
} automatic[] = {
    {"16:u8", 4, 16 + 40, {1}},
    {"8x16:u8", 4 + 4 * 56, (8 + 8) * 56, {56, 1}},
    {"3x8x16:u8", 4 + 4 * 56, 3 * 16 * 56, {16 * 56, 56, 1}},
};
enum { N_AUTOMATIC = sizeof automatic / sizeof *automatic };

START_TEST(automatic_padding)
{
    vpu_tensor_options o = options("t", VPU_ROLE_INPUT, automatic[_i].shape);
    vpu_tensor *t;

    o.auto_padding = 1;
    t = make(&o);
    ck_assert_uint_eq(vpu_tensor_offset(t), automatic[_i].offset);
    ck_assert_uint_eq(vpu_tensor_memory_bytes(t), automatic[_i].size);
    for (uint32_t i = 0; i < vpu_tensor_rank(t); i++)
        ck_assert_uint_eq(vpu_tensor_stride(t, i), automatic[_i].strides[i]);
}
END_TEST

/* A kernel of the caller's own that is told where elements are. */
START_TEST(memory_for_a_kernel)
{
    static const char source[] =
        "__kernel void turn(__global const int *in, __global int *out,\n"
        "                   int from, int row)\n"
        "{\n"
        "    int x = get_global_id(0), y = get_global_id(1);\n"
        "    out[x * get_global_size(1) + y] = in[from + y * row + x];\n"
        "}\n";
    vpu_tensor_options o = options("x", VPU_ROLE_INPUT, "3x8:i32");
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_program *p = api_program(c, source);
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "8x3:i32"), *x;
    int32_t given[24], turned[24];
    const vpu_kernel *k;
    vpu_operation *op;

    for (int i = 0; i < 24; i++) {
        given[i] = i * i;
        turned[i % 8 * 3 + i / 8] = i * i;
    }
    o.pad_before[0] = o.pad_before[1] = 2;
    x = make(&o);
    l.global[0] = 8;
    l.global[1] = 3;
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_fails(vpu_operation_set_tensor(op, "in", x, &api_err), VPU_ERR_MISMATCH,
              "vpu_operation_set_memory gives them");
    api_ok(vpu_operation_set_memory(op, "in", x, &api_err));
    api_ok(vpu_operation_set_memory(op, "out", y, &api_err));
    api_ok(vpu_operation_set_integer(
        op, "from", (int64_t)vpu_tensor_offset(x) / 4, &api_err));
    api_ok(vpu_operation_set_integer(
        op, "row", (int64_t)vpu_tensor_stride(x, 0) / 4, &api_err));
    api_ok(vpu_tensor_write(x, given, sizeof given, &api_err));
    run();
    expect_numbers(y, turned);
    vpu_program_free(p);
}
END_TEST

/* --- views with gaps ------------------------------------------------------ */

static vpu_tensor *view(vpu_tensor *parent, const uint32_t *start,
                        const uint32_t *dims)
{
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *v;

    memcpy(o.start, start, vpu_tensor_rank(parent) * sizeof *start);
    memcpy(o.dims, dims, vpu_tensor_rank(parent) * sizeof *dims);
    api_ok(vpu_graph_view(g, parent, &o, &v, &api_err));
    return v;
}

/* Two operations write channels of one tensor side by side, and a third reads
 * some of both. */
static void concatenate_channels(void)
{
    static const uint32_t at0[] = {0, 0, 0}, at1[] = {0, 0, 2},
                          at2[] = {1, 2, 1};
    static const uint32_t two[] = {4, 5, 2}, three[] = {4, 5, 3};
    static const uint32_t middle[] = {2, 3, 3};
    vpu_tensor *a = plain("a", VPU_ROLE_INPUT, "4x5x2:i32");
    vpu_tensor *b = plain("b", VPU_ROLE_INPUT, "4x5x3:i32");
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "4x5x5:i32");
    vpu_tensor *z = plain("z", VPU_ROLE_OUTPUT, "2x3x3:i32");
    int32_t x[2][60], wanted[100], part[18];

    for (int i = 0; i < 60; i++) {
        x[0][i] = i + 1;
        x[1][i] = 1000 + i;
    }
    for (int i = 0; i < 100; i++)
        wanted[i] =
            i % 5 < 2 ? x[0][i / 5 * 2 + i % 5] : x[1][i / 5 * 3 + i % 5 - 2];
    for (int i = 0; i < 18; i++)
        part[i] = wanted[((1 + i / 9) * 5 + 2 + i / 3 % 3) * 5 + 1 + i % 3];
    add("copy", a, view(y, at0, two));
    add("copy", b, view(y, at1, three));
    add("copy", view(y, at2, middle), z);
    api_ok(vpu_tensor_write(a, x[0], 160, &api_err));
    api_ok(vpu_tensor_write(b, x[1], 240, &api_err));
    run();
    expect_numbers(y, wanted);
    expect_numbers(z, part);
}

START_TEST(channels_concatenated)
{
    concatenate_channels();
}
END_TEST

START_TEST(channels_concatenated_on_opencl)
{
    teardown();
    open_on("opencl");
    concatenate_channels();
}
END_TEST

START_TEST(views_with_gaps_that_overlap)
{
    static const uint32_t at0[] = {0, 0}, at1[] = {0, 1}, two[] = {4, 2};
    vpu_tensor *x = plain("x", VPU_ROLE_INPUT, "4x2:i32");
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "4x3:i32");

    add("copy", x, view(y, at0, two));
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "only parts of it");
    add("copy", x, view(y, at1, two));
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "write parts of y that overlap");
}
END_TEST

START_TEST(gaps_where_none_may_be)
{
    vpu_tensor_options o = options("x", VPU_ROLE_INPUT, "1x2x3x4:f16");
    vpu_layer_options l = VPU_LAYER_OPTIONS_INIT;
    static const char *const binding = "kernels/grn/layer.xml";
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;
    vpu_tensor *x;

    o.pad_after[2] = 1;
    x = make(&o);
    a.inputs = &x;
    a.n_inputs = 1;
    api_fails(vpu_graph_add(g, "relu", &a, &op, &api_err), VPU_ERR_MISMATCH,
              "tensor x has gaps or padding: in dim 1 elements are 32 bytes");
    l.bindings = &binding;
    l.n_bindings = 1;
    l.layer = "GRN";
    l.inputs = &x;
    l.n_inputs = 1;
    api_fails(vpu_graph_add_layer(g, &l, &op, &api_err), VPU_ERR_MISMATCH,
              "the kernels of a layer know of none");
}
END_TEST

/* --- what kernels read around their place --------------------------------- */

/* The sum of 3 by 3 elements. */
static const char sum_source[] =
    "__kernel void sum(__global const int *in, __global int *out, int from,\n"
    "                  int row, int plane, int to, int out_row,\n"
    "                  int out_plane)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "    int s = 0;\n"
    "    for (int j = -1; j <= 1; j++)\n"
    "        for (int i = -1; i <= 1; i++)\n"
    "            s += in[from + z * plane + (y + j) * row + x + i];\n"
    "    out[to + z * out_plane + y * out_row + x] = s;\n"
    "}\n";

static void register_sum(const char *local)
{
    static const char *const in = "in", *const out = "out";
    static const vpu_parameter parameters[] = {
        {.name = "from", .expression = "in0_offset"},
        {.name = "row", .expression = "in0_stride_1"},
        {.name = "plane", .expression = "in0_stride_0"},
        {.name = "to", .expression = "out0_offset"},
        {.name = "out_row", .expression = "out0_stride_1"},
        {.name = "out_plane", .expression = "out0_stride_0"}};
    vpu_kind k = VPU_KIND_INIT;

    k.name = "sum";
    k.source = sum_source;
    k.inputs = &in;
    k.outputs = &out;
    k.n_inputs = k.n_outputs = 1;
    k.parameters = parameters;
    k.n_parameters = 6;
    k.global = "in0_2,in0_1,in0_0";
    k.local = local;
    k.strided = 1;
    k.reach = "0,1,1";
    api_ok(vpu_context_register(c, &k, &api_err));
}

enum { D = 3, H = 10, W = 24, N = D * H * W };

/* One element of the plain form, beside the tensor as its border says. */
static int32_t at(const int32_t *x, int z, int y, int i, uint32_t border,
                  int32_t value)
{
    if (border == VPU_BORDER_CONSTANT && (y < 0 || y >= H || i < 0 || i >= W))
        return value;
    y = y < 0 ? 0 : y >= H ? H - 1 : y;
    i = i < 0 ? 0 : i >= W ? W - 1 : i;
    return x[(z * H + y) * W + i];
}

static void sum_plain(const int32_t *x, int32_t *out, uint32_t border,
                      int32_t value)
{
    for (int k = 0; k < N; k++) {
        int z = k / W / H, y = k / W % H, i = k % W;

        out[k] = 0;
        for (int j = 0; j < 9; j++)
            out[k] += at(x, z, y + j / 3 - 1, i + j % 3 - 1, border, value);
    }
}

static void expect_region(const vpu_tensor *t, const uint32_t *start,
                          const uint32_t *end)
{
    vpu_region r;

    api_ok(vpu_tensor_valid(t, &r, &api_err));
    for (uint32_t i = 0; i < vpu_tensor_rank(t); i++) {
        ck_assert_uint_eq(r.start[i], start[i]);
        ck_assert_uint_eq(r.end[i], end[i]);
    }
}

static vpu_tensor *padded(const char *name, uint32_t role, uint32_t border)
{
    vpu_tensor_options o = options(name, role, "3x10x24:i32");

    o.border = border;
    o.border_value = -7;
    for (int i = 1; i < 3; i++) {
        o.pad_before[i] = 1;
        o.pad_after[i] = 2;
    }
    return make(&o);
}

/* Twice in a row, the second one of a virtual tensor: its border is filled when
 * it was written. */
static void sum_twice(uint32_t border)
{
    static const uint32_t zero[3], all[] = {D, H, W};
    vpu_tensor *x, *m, *y;
    int32_t *numbers = some_numbers(N), once[N], twice[N], read[N];

    register_sum(NULL);
    x = padded("x", VPU_ROLE_INPUT, border);
    m = padded("m", VPU_ROLE_VIRTUAL, border);
    y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    add("sum", x, m);
    add("sum", m, y);
    expect_region(m, zero, all);
    expect_region(y, zero, all);
    api_ok(vpu_graph_finalize(g, &api_err));
    for (int i = 0; i < 2; i++) {
        numbers[i] += i;
        api_ok(vpu_tensor_write(x, numbers, sizeof once, &api_err));
        api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
        sum_plain(numbers, once, border, -7);
        sum_plain(once, twice, border, -7);
        api_ok(vpu_tensor_read(y, read, sizeof read, &api_err));
        ck_assert_mem_eq(read, twice, sizeof read);
    }
    free(numbers);
}

START_TEST(borders)
{
    sum_twice((uint32_t)_i);
}
END_TEST

START_TEST(borders_on_opencl)
{
    teardown();
    open_on("opencl");
    sum_twice((uint32_t)_i);
}
END_TEST

/* Its fills are launches that the report names and the operation's cycles have.
 */
START_TEST(fills_are_told)
{
    vpu_tensor *x = padded("x", VPU_ROLE_INPUT, VPU_BORDER_REPLICATE);
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    vpu_tensor *z = plain("z", VPU_ROLE_OUTPUT, "3x10x24:i32");
    vpu_operation *first, *second;
    vpu_result *r;
    uint64_t cycles;

    register_sum(NULL);
    first = add("sum", x, y);
    second = add("sum", x, z);
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 3); /* one for both */
    ck_assert_str_eq(vpu_result_launch_name(r, 0), "sum@border=x");
    cycles = vpu_result_operation_cycles(r, first);
    ck_assert_uint_eq(cycles, vpu_result_launch_cycles(r, 0) +
                                  vpu_result_launch_cycles(r, 1));
    ck_assert_uint_eq(vpu_result_operation_cycles(r, second),
                      vpu_result_launch_cycles(r, 2));
    ck_assert_uint_eq(vpu_operation_global(first, 0), W);
    vpu_result_free(r);
}
END_TEST

/* Padding that holds nothing: all work-groups run, and what they read there is
 * not valid. */
START_TEST(undefined_padding)
{
    static const uint32_t one[] = {0, 1, 1}, two[] = {0, 2, 2};
    static const uint32_t less[] = {D, H - 1, W - 1};
    static const uint32_t least[] = {D, H - 2, W - 2};
    vpu_tensor *x = padded("x", VPU_ROLE_INPUT, 0);
    vpu_tensor *m = padded("m", VPU_ROLE_VIRTUAL, 0);
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    vpu_tensor *z = plain("z", VPU_ROLE_OUTPUT, "3x10x24:i32");
    int32_t *numbers = some_numbers(N), once[N], twice[N], read[N];
    vpu_window w;

    register_sum(NULL);
    add("sum", x, m);
    add("sum", m, y);
    add("relu", y, z); /* element for element: as far as its input */
    expect_region(m, one, less);
    expect_region(y, two, least);
    expect_region(z, two, least);
    api_ok(vpu_operation_window(
        add("copy", y, plain("u", VPU_ROLE_OUTPUT, "3x10x24:i32")), &w,
        &api_err));
    api_ok(vpu_tensor_write(x, numbers, sizeof once, &api_err));
    run();
    sum_plain(numbers, once, VPU_BORDER_REPLICATE, 0);
    sum_plain(once, twice, VPU_BORDER_REPLICATE, 0);
    api_ok(vpu_tensor_read(y, read, sizeof read, &api_err));
    for (int k = 0; k < N; k++)
        if (k / W % H >= 2 && k / W % H < H - 2 && k % W >= 2 && k % W < W - 2)
            ck_assert_int_eq(read[k], twice[k]);
    free(numbers);
}
END_TEST

/* No padding: work-groups that would leave the tensor's memory do not run. */
START_TEST(padding_that_is_too_small)
{
    static const struct {
        const char *local;
        uint32_t x, end_x, y, end_y;
    } sizes[] = {{"1,1,1", 1, W - 1, 1, H - 1},
                 {"8,1,1", 8, W - 8, 1, H - 1},
                 {"4,5,1", 4, W - 4, 0, 0},
                 {"2,2,3", 2, W - 2, 2, H - 2}};
    vpu_tensor *x = plain("x", VPU_ROLE_INPUT, "3x10x24:i32");
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    uint32_t start[] = {0, sizes[_i].y, sizes[_i].x};
    uint32_t end[] = {D, sizes[_i].end_y, sizes[_i].end_x};
    int32_t *numbers = some_numbers(N), wanted[N];
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;
    vpu_window w;

    register_sum(sizes[_i].local);
    o.inputs = &x;
    o.outputs = &y;
    o.n_inputs = o.n_outputs = 1;
    if (!sizes[_i].end_y) {
        api_fails(vpu_graph_add(g, "sum", &o, &op, &api_err), VPU_ERR_INVALID,
                  "reads 1 elements around its place in dim 1, where x has too "
                  "little padding: no work-group of 5 items is left");
        free(numbers);
        return;
    }
    op = add("sum", x, y);
    expect_region(y, start, end);
    api_ok(vpu_operation_window(op, &w, &api_err));
    ck_assert_uint_eq(w.start[0], sizes[_i].x);
    ck_assert_uint_eq(w.end[1], sizes[_i].end_y);
    w.start[0] = 0;
    api_fails(vpu_operation_set_window(op, &w, &api_err), VPU_ERR_INVALID,
              "dimension 0 of the part starts at 0, outside");
    api_ok(vpu_tensor_write(x, numbers, sizeof wanted, &api_err));
    run();
    sum_plain(numbers, wanted, VPU_BORDER_REPLICATE, 0);
    for (int k = 0; k < N; k++) {
        uint32_t row = (uint32_t)(k / W % H), column = (uint32_t)(k % W);
        bool in = row >= start[1] && row < end[1] && column >= start[2] &&
                  column < end[2];

        ck_assert_int_eq(*element(y, (uint32_t)k), in ? wanted[k] : 0);
    }
    free(numbers);
}
END_TEST

/* A view has its parent around it: no padding is missing. */
START_TEST(around_a_view)
{
    static const uint32_t start[] = {0, 1, 1}, dims[] = {D, H - 2, W - 2};
    static const uint32_t zero[3];
    vpu_tensor *x = plain("x", VPU_ROLE_INPUT, "3x10x24:i32");
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x8x22:i32");
    int32_t *numbers = some_numbers(N), wanted[N];

    register_sum(NULL);
    add("sum", view(x, start, dims), y);
    expect_region(y, zero, dims);
    api_ok(vpu_tensor_write(x, numbers, sizeof wanted, &api_err));
    run();
    sum_plain(numbers, wanted, VPU_BORDER_REPLICATE, 0);
    for (int k = 0; k < D * (H - 2) * (W - 2); k++) {
        int z = k / (W - 2) / (H - 2), row = k / (W - 2) % (H - 2);

        ck_assert_int_eq(*element(y, (uint32_t)k),
                         wanted[(z * H + row + 1) * W + k % (W - 2) + 1]);
    }
    free(numbers);
}
END_TEST

/* A view in one piece, whose kernel reads the rows around it. */
static void around_rows(void)
{
    static const char source[] =
        "__kernel void rows(__global const int *in, __global int *out,\n"
        "                   int from, int row, int to)\n"
        "{\n"
        "    int x = get_global_id(0), y = get_global_id(1);\n"
        "    int i = from + y * row + x;\n"
        "    out[to + y * row + x] = in[i - row] + 2 * in[i] + in[i + row];\n"
        "}\n";
    static const char *const in = "in", *const out = "out";
    static const vpu_parameter places[] = {
        {.name = "from", .expression = "in0_offset"},
        {.name = "row", .expression = "in0_stride_0"},
        {.name = "to", .expression = "out0_offset"}};
    static const uint32_t start[] = {1, 0}, dims[] = {8, 16};
    vpu_tensor *x = plain("x", VPU_ROLE_INPUT, "10x16:i32");
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "8x16:i32"), *v;
    int32_t given[160], wanted[128];
    vpu_kind k = VPU_KIND_INIT;

    k.name = "rows";
    k.source = source;
    k.inputs = &in;
    k.outputs = &out;
    k.n_inputs = k.n_outputs = 1;
    k.parameters = places;
    k.n_parameters = 3;
    k.global = "in0_1,in0_0";
    k.strided = 1;
    k.reach = "1,0";
    api_ok(vpu_context_register(c, &k, &api_err));
    v = view(x, start, dims);
    ck_assert(vpu_tensor_is_packed(v));
    ck_assert_uint_eq(vpu_tensor_offset(v), 64);
    ck_assert_uint_eq(vpu_tensor_memory_bytes(v), 640);
    add("rows", v, y);
    for (int i = 0; i < 160; i++)
        given[i] = i * i;
    for (int i = 0; i < 128; i++)
        wanted[i] = given[i] + 2 * given[i + 16] + given[i + 32];
    api_ok(vpu_tensor_write(x, given, sizeof given, &api_err));
    run();
    expect_numbers(y, wanted);
}

START_TEST(rows_around_a_view)
{
    around_rows();
}
END_TEST

START_TEST(rows_around_a_view_on_opencl)
{
    teardown();
    open_on("opencl");
    around_rows();
}
END_TEST

START_TEST(too_little_padding_on_opencl)
{
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;
    vpu_tensor *x, *y;

    teardown();
    open_on("opencl");
    register_sum(NULL);
    x = plain("x", VPU_ROLE_INPUT, "3x10x24:i32");
    y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    o.inputs = &x;
    o.outputs = &y;
    o.n_inputs = o.n_outputs = 1;
    api_fails(vpu_graph_add(g, "sum", &o, &op, &api_err), VPU_ERR_UNSUPPORTED,
              "needs that much padding there, since backend opencl");
}
END_TEST

/* Of an operation whose reach nobody knows nothing is known. */
START_TEST(regions_behind_other_operations)
{
    static const uint32_t none[3];
    vpu_tensor *x = padded("x", VPU_ROLE_INPUT, 0);
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    vpu_tensor *z = plain("z", VPU_ROLE_OUTPUT, "24x3x10:i32");
    const vpu_value axes[] = {
        {"axis0", 0, 2, 0}, {"axis1", 0, 0, 0}, {"axis2", 0, 1, 0}};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    register_sum(NULL);
    add("sum", x, y);
    o.inputs = &y;
    o.outputs = &z;
    o.n_inputs = o.n_outputs = 1;
    o.values = axes;
    o.n_values = 3;
    api_ok(vpu_graph_add(g, "permute", &o, &op, &api_err));
    expect_region(z, none, none);
}
END_TEST

/* What the checkers see: a border is written, other padding is not. */
START_TEST(checked_borders)
{
    uint32_t border = _i ? VPU_BORDER_CONSTANT : VPU_BORDER_UNDEFINED;
    vpu_tensor *x = plain("x", VPU_ROLE_INPUT, "3x10x24:i32");
    vpu_tensor *m = padded("m", VPU_ROLE_VIRTUAL, border);
    vpu_tensor *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32");
    vpu_findings *f;

    register_sum(NULL);
    add("copy", x, m);
    add("sum", m, y);
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_check(&f, g, NULL, &api_err));
    if (_i)
        ck_assert_uint_eq(vpu_findings_count(f), 0);
    else
        ck_assert_uint_gt(vpu_findings_error_count(f), 0);
    vpu_findings_free(f);
}
END_TEST

/* In place on the caller's memory, padding with it: 3 before and 5 behind in
 * one dim, 2 and 4 in the other. */
START_TEST(imported_with_padding)
{
    enum { ROW = 3 + 6 + 5, ROWS = 2 + 4 + 4 };
    _Alignas(1024) int32_t in[ROWS * ROW], out[ROWS * ROW];
    vpu_tensor_options o = options("x", VPU_ROLE_INPUT, "4x6:i32");
    vpu_tensor *x, *y;

    for (int i = 0; i < ROWS * ROW; i++) {
        in[i] = i;
        out[i] = -1;
    }
    o.pad_before[0] = 2;
    o.pad_after[0] = 4;
    o.pad_before[1] = 3;
    o.pad_after[1] = 5;
    x = make(&o);
    o.name = "y";
    o.role = VPU_ROLE_OUTPUT;
    y = make(&o);
    add("copy", x, y);
    api_fails(vpu_tensor_import(x, in, sizeof in - 1, &api_err),
              VPU_ERR_MISMATCH, "which has 560");
    api_ok(vpu_tensor_import(x, in, sizeof in, &api_err));
    api_ok(vpu_tensor_import(y, out, sizeof out, &api_err));
    ck_assert_ptr_eq(vpu_tensor_data(y), out + 2 * ROW + 3);
    run();
    for (int i = 0; i < ROWS * ROW; i++)
        if (i / ROW >= 2 && i / ROW < 6 && i % ROW >= 3 && i % ROW < 9)
            ck_assert_int_eq(out[i], in[i]);
}
END_TEST

/* The two graphs' inputs lie differently. */
START_TEST(compared_with_another_layout)
{
    vpu_context *other = api_context(NULL);
    vpu_graph *first = g, *second;
    vpu_diff *d;

    for (int i = 0; i < 2; i++) {
        vpu_tensor_options o = options("x", VPU_ROLE_INPUT, "5x7:i32");

        if (i) {
            api_ok(vpu_graph_create(&g, other, &api_err));
            o.pad_before[1] = 3;
        } else {
            o.strides[0] = 40;
        }
        add("copy", make(&o), plain("y", VPU_ROLE_OUTPUT, "5x7:i32"));
        if (!i)
            api_ok(vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "ramp",
                                   &api_err));
        api_ok(vpu_graph_finalize(g, &api_err));
    }
    second = g;
    g = first;
    api_ok(vpu_diff_create(&d, first, second, NULL, &api_err));
    ck_assert_uint_eq(vpu_diff_equal(d), 1);
    vpu_diff_free(d);
    vpu_graph_free(second);
    vpu_context_free(other);
}
END_TEST

/* --- in files ------------------------------------------------------------- */

/* A border that is filled, channels last, a view with gaps, and work-groups
 * that do not run. */
static void many_layouts(void)
{
    static const uint32_t start[] = {0, 1, 2}, part[] = {2, 8, 20};
    vpu_tensor *x = padded("x", VPU_ROLE_INPUT, VPU_BORDER_REPLICATE);
    vpu_tensor_options o = options("m", VPU_ROLE_VIRTUAL, "3x10x24:i32");
    vpu_tensor *m, *y = plain("y", VPU_ROLE_OUTPUT, "3x10x24:i32"), *z;
    vpu_tensor *sums = plain("sums", VPU_ROLE_VIRTUAL, "3x10x24:i32");

    o.channels_last = 1;
    m = make(&o);
    o.channels_last = 0;
    o.name = "z";
    o.role = VPU_ROLE_OUTPUT;
    o.shape = "2x8x20:i32";
    o.pad_before[1] = 3;
    z = make(&o);
    register_sum("8,1,1");
    add("sum", x, sums);
    add("copy", sums, m);
    add("copy", m, y);
    add("copy", view(m, start, part), z);
    o = options("w", VPU_ROLE_OUTPUT, "3x10x24:i32");
    add("sum", plain("u", VPU_ROLE_INPUT, "3x10x24:i32"), make(&o));
}

static uint64_t run_layouts(vpu_graph *on, int32_t *out)
{
    static const struct {
        const char *name;
        size_t n;
    } outputs[] = {{"y", 720}, {"z", 320}, {"w", 720}};
    vpu_result *r;
    uint64_t cycles;

    api_ok(vpu_graph_finalize(on, &api_err));
    api_ok(
        vpu_tensor_fill(vpu_graph_tensor_named(on, "x"), "random:4", &api_err));
    api_ok(
        vpu_tensor_fill(vpu_graph_tensor_named(on, "u"), "random:5", &api_err));
    api_ok(vpu_graph_run(on, NULL, &r, &api_err));
    cycles = vpu_result_cycles(r);
    vpu_result_free(r);
    for (int i = 0; i < 3; i++) {
        api_ok(vpu_tensor_read(vpu_graph_tensor_named(on, outputs[i].name), out,
                               outputs[i].n * 4, &api_err));
        out += outputs[i].n;
    }
    return cycles;
}

START_TEST(saved_and_loaded)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *file = file_join(a, dir, "g");
    static int32_t before[1760], after[1760];
    size_t n[2];
    vpu_graph *loaded;
    vpu_region r, s;
    uint64_t cycles;

    many_layouts();
    api_ok(vpu_graph_save(g, file, NULL, &api_err));
    cycles = run_layouts(g, before);
    api_ok(vpu_graph_load(&loaded, c, file, &api_err));
    ck_assert_uint_eq(run_layouts(loaded, after), cycles);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_uint_eq(vpu_tensor_stride(vpu_graph_tensor_named(loaded, "m"), 2),
                      4 * 10);
    api_ok(vpu_tensor_valid(vpu_graph_tensor_named(g, "w"), &r, &api_err));
    api_ok(vpu_tensor_valid(vpu_graph_tensor_named(loaded, "w"), &s, &api_err));
    ck_assert_mem_eq(&r, &s, sizeof r);
    ck_assert_uint_eq(r.start[2], 8);
    api_ok(vpu_graph_save(loaded, file_join(a, dir, "h"), NULL, &api_err));
    ck_assert_str_eq(program_file(a, dir, "g", &n[0]),
                     program_file(a, dir, "h", &n[1]));
    ck_assert_uint_eq(n[0], n[1]);
    ck_assert_mem_eq(program_file(a, dir, "g", &n[0]),
                     program_file(a, dir, "h", &n[1]), n[0]);
    vpu_graph_free(loaded);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

/* A place in a file that says more than there is. */
static const struct {
    const char *from, *to, *words;
} hostile[] = {
    {"\"strides\": [\n    960,", "\"strides\": [\n    961,", "inside"},
    {"\"strides\": [\n    960,", "\"strides\": [\n    8000,", "inside"},
    {"\"strides\": [\n    960,", "\"strides\": [\n    0,", "strides"},
    {"\"strides\": [\n    960,", "\"strides\": [\n", "a number for each"},
    {"\"first\": [\n     1,", "\"first\": [\n     3,", "work-groups of"},
    {"\"groups\": [\n     1,", "\"groups\": [\n     4,", "work-groups of"},
    {"\"offset\": 84,", "\"offset\": 1960,", "inside of its parent"},
    {"\"valid\": [\n    [\n     0,", "\"valid\": [\n    [\n     4,", "valid"},
};
enum { N_HOSTILE = sizeof hostile / sizeof *hostile };

/* The manifest is the file's first section. */
START_TEST(files_that_mean_harm)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *file = file_join(a, dir, "g");
    container f = {.kind = &graphfile_kind, .path = file, .err = &api_err};
    container_section s[16];
    const char *text, *at;
    str changed = {.arena = a};
    vpu_graph *none;

    many_layouts();
    api_ok(vpu_graph_save(g, file, NULL, &api_err));
    f.p = (unsigned char *)program_file(a, dir, "g", &f.n);
    api_ok(container_check(&f));
    ck_assert_uint_le(f.n_sections, 16);
    for (uint32_t i = 0; i < f.n_sections; i++)
        s[i] = container_at(&f, i);
    text = arena_strndup(a, s[0].data, s[0].bytes);
    at = strstr(text, hostile[_i].from);
    ck_assert_msg(at, "no %s in %s", hostile[_i].from, text);
    str_add(&changed, text, (size_t)(at - text));
    str_puts(&changed, hostile[_i].to);
    str_puts(&changed, at + strlen(hostile[_i].from));
    s[0] = (container_section){.data = str_text(&changed), .bytes = changed.n};
    api_ok(container_write(file, &graphfile_kind, s, f.n_sections, &api_err));
    api_fails(vpu_graph_load(&none, c, file, &api_err), VPU_ERR_PARSE,
              hostile[_i].words);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("strides");
    Suite *suite = suite_create("library: padding, strides, borders");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, copies_between_layouts, 0, 80);
    tcase_add_loop_test(t, copies_between_layouts_on_opencl, 0, 6);
    tcase_add_test(t, constants_and_files);
    tcase_add_test(t, channels_last);
    tcase_add_loop_test(t, refused_layouts, 0, N_REFUSED);
    tcase_add_loop_test(t, automatic_padding, 0, N_AUTOMATIC);
    tcase_add_test(t, memory_for_a_kernel);
    tcase_add_test(t, channels_concatenated);
    tcase_add_test(t, channels_concatenated_on_opencl);
    tcase_add_test(t, views_with_gaps_that_overlap);
    tcase_add_test(t, gaps_where_none_may_be);
    tcase_add_loop_test(t, borders, VPU_BORDER_REPLICATE,
                        VPU_BORDER_CONSTANT + 1);
    tcase_add_loop_test(t, borders_on_opencl, VPU_BORDER_REPLICATE,
                        VPU_BORDER_CONSTANT + 1);
    tcase_add_test(t, fills_are_told);
    tcase_add_test(t, undefined_padding);
    tcase_add_loop_test(t, padding_that_is_too_small, 0, 4);
    tcase_add_test(t, around_a_view);
    tcase_add_test(t, rows_around_a_view);
    tcase_add_test(t, rows_around_a_view_on_opencl);
    tcase_add_test(t, too_little_padding_on_opencl);
    tcase_add_test(t, regions_behind_other_operations);
    tcase_add_loop_test(t, checked_borders, 0, 2);
    tcase_add_test(t, imported_with_padding);
    tcase_add_test(t, compared_with_another_layout);
    tcase_add_test(t, saved_and_loaded);
    tcase_add_loop_test(t, files_that_mean_harm, 0, N_HOSTILE);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
