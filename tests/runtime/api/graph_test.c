/* Graphs of kernels: values against plain C, and everything that is refused. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 1000 };

static vpu_context *sim;

static void setup(void)
{
    sim = api_context(NULL);
}

static void teardown(void)
{
    vpu_context_free(sim);
}

static void fill(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)(i % 37) - 11.5f;
}

/* --- values --------------------------------------------------------------- */

START_TEST(one_kernel)
{
    api_scaling s;
    vpu_result *r;
    float x[N], y[N];

    fill(x, N);
    api_scaling_open(&s, sim, N, -2.5);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_write(s.x, x, sizeof x, &api_err));
    api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err));
    api_ok(vpu_tensor_read(s.y, y, sizeof y, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], x[i] * -2.5f);
    ck_assert_uint_gt(vpu_result_cycles(r), 0);
    ck_assert_double_gt(vpu_result_seconds(r), 0);
    vpu_result_free(r);
    api_scaling_close(&s);
}
END_TEST

/* The same program on an OpenCL device. */
START_TEST(one_kernel_on_opencl)
{
    vpu_context *c = api_context("opencl");
    api_scaling s;
    float x[N], y[N];

    fill(x, N);
    api_scaling_open(&s, c, N, 3);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_write(s.x, x, sizeof x, &api_err));
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    memcpy(y, vpu_tensor_data(s.y), sizeof y);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], x[i] * 3);
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

/* Each kind of scalar, as the device has it. */
static const char scalars[] =
    "__kernel void put(__global int *y, char a, uchar b, short c, ushort d,\n"
    "                  int e, uint f, long g, ulong h, float p, half q)\n"
    "{\n"
    "    y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = (int)f;\n"
    "    y[6] = (int)(g >> 32); y[7] = (int)(h >> 32); y[8] = as_int(p);\n"
    "    y[9] = as_ushort(q);\n"
    "}\n";

START_TEST(scalars_of_all_types)
{
    static const struct {
        const char *name;
        int64_t value;
    } integers[] = {{"a", -128},      {"b", 255},       {"c", -32768},
                    {"d", 65535},     {"e", INT32_MIN}, {"f", UINT32_MAX},
                    {"g", INT64_MIN}, {"h", INT64_MAX}};
    static const int32_t wanted[] = {-128,       255,   -32768,    65535,
                                     INT32_MIN,  -1,    INT32_MIN, INT32_MAX,
                                     0x3eaaaaab, 0x3555};
    vpu_program *p = api_program(sim, scalars);
    const vpu_kernel *k;
    vpu_graph *g;
    vpu_operation *op;
    vpu_tensor *y;
    int32_t got[10];

    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    y = api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_I32, 10);
    api_ok(vpu_graph_add_kernel(g, k, NULL, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    for (size_t i = 0; i < 8; i++)
        api_ok(vpu_operation_set_integer(op, integers[i].name,
                                         integers[i].value, &api_err));
    api_ok(vpu_operation_set_real(op, "p", 1. / 3, &api_err));
    api_ok(vpu_operation_set_real(op, "q", 1. / 3, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    api_ok(vpu_tensor_read(y, got, sizeof got, &api_err));
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(got[i], wanted[i]);
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

static const char chain[] =
    "__kernel void add(__global const float *a, __global const float *b,\n"
    "                  __global float *y)\n"
    "{\n"
    "    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);\n"
    "    y[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void square(__global const float *a, __global float *y,\n"
    "                     __local float *tmp)\n"
    "{\n"
    "    int i = get_global_id(0) + get_global_size(0) * get_global_id(1);\n"
    "    tmp[get_local_id(0)] = a[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    y[i] = tmp[get_local_id(0)] * tmp[get_local_id(0)];\n"
    "}\n";

/* ((x + c)^2 + x)^2, through virtual tensors, with a constant. */
START_TEST(a_chain_of_kernels)
{
    enum { ROWS = 6, COLS = 40 };
    vpu_program *p = api_program(sim, chain);
    const vpu_kernel *add, *square;
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    float x[ROWS * COLS], c[ROWS * COLS], y[ROWS * COLS];
    vpu_tensor *v[6];
    vpu_operation *op;
    vpu_graph *g;

    fill(x, ROWS * COLS);
    for (int i = 0; i < ROWS * COLS; i++)
        c[i] = (float)i / 8;
    api_ok(vpu_program_kernel(p, "add", &add, &api_err));
    api_ok(vpu_program_kernel(p, "square", &square, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    t.type = VPU_F32;
    t.rank = 2;
    t.dims[0] = ROWS;
    t.dims[1] = COLS;
    for (int i = 0; i < 6; i++) {
        static const uint32_t roles[] = {VPU_ROLE_INPUT,   VPU_ROLE_CONSTANT,
                                         VPU_ROLE_VIRTUAL, VPU_ROLE_VIRTUAL,
                                         VPU_ROLE_VIRTUAL, VPU_ROLE_OUTPUT};

        t.role = roles[i];
        t.data = i == 1 ? c : NULL;
        api_ok(vpu_graph_tensor(g, &t, &v[i], &api_err));
    }
    o.global[0] = COLS;
    o.global[1] = ROWS;
    for (int i = 0; i < 2; i++) {
        o.local[0] = 0;
        api_ok(vpu_graph_add_kernel(g, add, &o, &op, &api_err));
        api_ok(vpu_operation_set_tensor(op, "a", i ? v[3] : v[0], &api_err));
        api_ok(vpu_operation_set_tensor(op, "b", i ? v[0] : v[1], &api_err));
        api_ok(vpu_operation_set_tensor(op, "y", i ? v[4] : v[2], &api_err));
        ck_assert_ptr_eq(vpu_operation_input(op, 0), i ? v[3] : v[0]);
        ck_assert_ptr_eq(vpu_operation_output(op, 0), i ? v[4] : v[2]);
        ck_assert_ptr_null(vpu_operation_output(op, 1));
        o.local[0] = 8;
        api_ok(vpu_graph_add_kernel(g, square, &o, &op, &api_err));
        api_ok(vpu_operation_set_tensor(op, "a", i ? v[4] : v[2], &api_err));
        api_ok(vpu_operation_set_tensor(op, "y", i ? v[5] : v[3], &api_err));
        api_ok(vpu_operation_set_local(op, "tmp", 8 * sizeof(float), &api_err));
    }
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_write(v[0], x, sizeof x, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    api_ok(vpu_tensor_read(v[5], y, sizeof y, &api_err));
    for (int i = 0; i < ROWS * COLS; i++) {
        float once = (x[i] + c[i]) * (x[i] + c[i]) + x[i];

        ck_assert_float_eq(y[i], once * once);
    }
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

/* --- tensors -------------------------------------------------------------- */

START_TEST(tensors_tell_what_they_are)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t, *unnamed;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    o.name = "deep";
    o.role = VPU_ROLE_INPUT;
    o.type = VPU_U8;
    o.rank = 6;
    for (uint32_t i = 0; i < 6; i++)
        o.dims[i] = i + 2;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    ck_assert_str_eq(vpu_tensor_name(t), "deep");
    ck_assert_uint_eq(vpu_tensor_role(t), VPU_ROLE_INPUT);
    ck_assert_uint_eq(vpu_tensor_type(t), VPU_U8);
    ck_assert_uint_eq(vpu_tensor_rank(t), 6);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(vpu_tensor_dim(t, i), i + 2);
    ck_assert_uint_eq(vpu_tensor_dim(t, 6), 0);
    ck_assert_uint_eq(vpu_tensor_bytes(t), 5040);
    o.name = NULL;
    api_ok(vpu_graph_tensor(g, &o, &unnamed, &api_err));
    ck_assert_str_eq(vpu_tensor_name(unnamed), "tensor1");
    ck_assert_ptr_eq(vpu_graph_tensor_named(g, "deep"), t);
    ck_assert_ptr_null(vpu_graph_tensor_named(g, "shallow"));
    ck_assert_ptr_eq(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 1), unnamed);
    ck_assert_ptr_null(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 2));
    ck_assert_ptr_null(vpu_graph_tensor_at(g, VPU_ROLE_OUTPUT, 0));
    vpu_graph_free(g);
}
END_TEST

START_TEST(types_have_sizes_and_names)
{
    static const uint32_t bytes[] = {0, 2, 4, 4, 1, 1, 2, 2, 8, 0};
    static const char *const names[] = {NULL, "f16", "f32", "i32", "u8",
                                        "i8", "i16", "u16", "i64", NULL};

    for (uint32_t t = 0; t < 10; t++) {
        ck_assert_uint_eq(vpu_type_bytes(t), bytes[t]);
        ck_assert_pstr_eq(vpu_type_name(t), names[t]);
    }
}
END_TEST

START_TEST(impossible_tensors)
{
    static const int32_t data[4];
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    const vpu_tensor_options good = {.struct_size = sizeof o,
                                     .name = "t",
                                     .role = VPU_ROLE_INPUT,
                                     .type = VPU_I32,
                                     .rank = 1,
                                     .dims = {4}};
    vpu_tensor *t;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
#define TRY(change, st, words) \
    o = good;                  \
    change;                    \
    api_fails(vpu_graph_tensor(g, &o, &t, &api_err), st, words)
    TRY(o.type = 0, VPU_ERR_INVALID, "type 0");
    TRY(o.type = 9, VPU_ERR_INVALID, "type 9");
    TRY(o.role = 0, VPU_ERR_INVALID, "role 0");
    TRY(o.role = 5, VPU_ERR_INVALID, "role 5");
    TRY(o.rank = 0, VPU_ERR_INVALID, "rank is 0");
    TRY(o.rank = 7, VPU_ERR_INVALID, "rank is 7");
    TRY((o.rank = 3, o.dims[1] = 5), VPU_ERR_INVALID, "dims[2] is 0");
    TRY((o.rank = 2, o.dims[0] = o.dims[1] = 1 << 16), VPU_ERR_LIMIT,
        "4294967296");
    TRY((o.rank = 4,
         o.dims[0] = o.dims[1] = o.dims[2] = o.dims[3] = UINT32_MAX),
        VPU_ERR_LIMIT, "4294967296");
    TRY(o.role = VPU_ROLE_CONSTANT, VPU_ERR_INVALID, "needs data");
    TRY(o.data = data, VPU_ERR_INVALID, "vpu_tensor_write");
    o = good;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    TRY(o.type = VPU_U8, VPU_ERR_INVALID, "'t' already");
#undef TRY
    vpu_graph_free(g);
}
END_TEST

/* Elements, and bytes, that fit no 32 bits, and no 64: never less than they
 * are. */
START_TEST(sizes_whose_product_overflows)
{
    static const char *const shapes[] = {"1073741825:f32",
                                         "65536x65536:f32",
                                         "65536x65536:i64",
                                         "4294967295x4294967295:u8",
                                         "2147483648x2147483648x4:u8",
                                         "2147483648x2147483648x2:i64",
                                         "65536x65536x65536x65536:f16",
                                         "4294967295x3x5x17x257x65537:f32"};
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    o.role = VPU_ROLE_VIRTUAL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        o.shape = shapes[i];
        api_fails(vpu_graph_tensor(g, &o, &t, &api_err), VPU_ERR_LIMIT,
                  "4294967296");
        ck_assert_ptr_null(t);
    }
    ck_assert_ptr_null(vpu_graph_tensor_at(g, VPU_ROLE_VIRTUAL, 0));
    vpu_graph_free(g);
}
END_TEST

/* Two tensors of one descriptor, and one of what those tell. */
START_TEST(a_copied_descriptor_gives_an_equal_tensor)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT, copy, told;
    vpu_tensor *t[3];
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    o.role = VPU_ROLE_INPUT;
    o.type = VPU_I16;
    o.rank = 3;
    o.dims[0] = 3;
    o.dims[1] = 5;
    o.dims[2] = 7;
    o.pad_before[1] = o.pad_after[2] = 2;
    o.strides[1] = 32;
    copy = o;
    api_ok(vpu_graph_tensor(g, &o, &t[0], &api_err));
    api_ok(vpu_graph_tensor(g, &copy, &t[1], &api_err));
    told = o;
    told.type = vpu_tensor_type(t[0]);
    told.rank = vpu_tensor_rank(t[0]);
    for (uint32_t d = 0; d < told.rank; d++) {
        told.dims[d] = vpu_tensor_dim(t[0], d);
        told.strides[d] = vpu_tensor_stride(t[0], d);
    }
    api_ok(vpu_graph_tensor(g, &told, &t[2], &api_err));
    for (int i = 1; i < 3; i++) {
        ck_assert_uint_eq(vpu_tensor_role(t[i]), VPU_ROLE_INPUT);
        ck_assert_uint_eq(vpu_tensor_type(t[i]), VPU_I16);
        ck_assert_uint_eq(vpu_tensor_rank(t[i]), 3);
        for (uint32_t d = 0; d < 3; d++) {
            ck_assert_uint_eq(vpu_tensor_dim(t[i], d), o.dims[d]);
            ck_assert_uint_eq(vpu_tensor_stride(t[i], d),
                              vpu_tensor_stride(t[0], d));
        }
        ck_assert_uint_eq(vpu_tensor_offset(t[i]), vpu_tensor_offset(t[0]));
        ck_assert_uint_eq(vpu_tensor_bytes(t[i]), 3 * 5 * 7 * 2);
        ck_assert_uint_eq(vpu_tensor_memory_bytes(t[i]),
                          vpu_tensor_memory_bytes(t[0]));
        ck_assert_str_ne(vpu_tensor_name(t[i]), vpu_tensor_name(t[0]));
    }
    ck_assert_uint_eq(vpu_tensor_stride(t[0], 1), 32);
    vpu_graph_free(g);
}
END_TEST

START_TEST(shapes_as_texts)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "3x",
                                      "3x4:",
                                      "3:f8",
                                      "3 x 4",
                                      "1x2x3x4x5x6x7",
                                      "-1",
                                      "3x4 ",
                                      "4294967296",
                                      "99999999999999999999"};
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    o.role = VPU_ROLE_INPUT;
    o.shape = "2x3x4x5x6x7:i16";
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    ck_assert_uint_eq(vpu_tensor_type(t), VPU_I16);
    ck_assert_uint_eq(vpu_tensor_bytes(t), 2 * 5040);
    o.shape = "12";
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    ck_assert_uint_eq(vpu_tensor_type(t), VPU_F16);
    ck_assert_uint_eq(vpu_tensor_rank(t), 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.shape = bad[i];
        api_fails(vpu_graph_tensor(g, &o, &t, &api_err), VPU_ERR_INVALID,
                  "something like");
    }
    o.shape = "0x4";
    api_fails(vpu_graph_tensor(g, &o, &t, &api_err), VPU_ERR_INVALID,
              "dims[0] is 0");
    o.shape = "4";
    o.rank = 1;
    api_fails(vpu_graph_tensor(g, &o, &t, &api_err), VPU_ERR_INVALID,
              "besides");
    vpu_graph_free(g);
}
END_TEST

START_TEST(contents_in_and_out)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a);
    char *path = file_join(a, dir, "y.npy");
    api_scaling s, longer;
    vpu_region all;
    float x[8], *data;
    tensor loaded;

    api_scaling_open(&s, sim, 8, 2);
    ck_assert_ptr_null(vpu_tensor_data(s.x));
    api_fails(vpu_tensor_read(s.y, x, sizeof x, &api_err), VPU_ERR_INVALID,
              "has not run");
    api_fails(vpu_tensor_read(s.x, x, sizeof x, &api_err), VPU_ERR_INVALID,
              "never written");
    api_fails(vpu_tensor_write(s.y, x, sizeof x, &api_err), VPU_ERR_INVALID,
              "y is no input");
    api_fails(vpu_tensor_write(s.x, x, 31, &api_err), VPU_ERR_MISMATCH,
              "has 32");
    api_fails(vpu_tensor_fill(s.x, "noise", &api_err), VPU_ERR_INVALID,
              "noise");
    api_fails(vpu_tensor_fill(s.x, path, &api_err), VPU_ERR_IO, path);
    ck_assert(!file_write(path, "no array", 8, NULL));
    api_fails(vpu_tensor_fill(s.x, path, &api_err), VPU_ERR_PARSE, path);
    api_fails(vpu_tensor_valid(NULL, &all, &api_err), VPU_ERR_INVALID,
              "tensor is NULL");
    api_fails(vpu_tensor_valid(s.x, NULL, &api_err), VPU_ERR_INVALID,
              "out is NULL");
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    data = vpu_tensor_data(s.x);
    for (int i = 0; i < 8; i++)
        ck_assert_float_eq(data[i], (float)i / 256);
    data[3] = 100; /* in place */
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    api_ok(vpu_tensor_save(s.y, path, &api_err));
    ck_assert_int_eq(npy_read(path, a, &loaded, NULL), VPU_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_float_eq(((float *)loaded.data)[i],
                           i == 3 ? 200 : (float)i / 128);
    api_ok(vpu_tensor_fill(s.x, path, &api_err)); /* and back again */
    ck_assert_float_eq(data[3], 200);
    api_fails(vpu_tensor_read(s.y, x, 33, &api_err), VPU_ERR_MISMATCH,
              "33 bytes are given for y, which has 32");
    api_scaling_open(&longer, sim, 9, 2);
    api_fails(vpu_tensor_fill(longer.x, path, &api_err), VPU_ERR_MISMATCH,
              "the file is f32 8, x wants f32 9");
    api_fails(vpu_tensor_fill(
                  api_tensor(longer.graph, "h", VPU_ROLE_INPUT, VPU_I32, 8),
                  path, &api_err),
              VPU_ERR_MISMATCH, "the file is f32 8, h wants i32 8");
    api_fails(vpu_tensor_save(longer.y, path, &api_err), VPU_ERR_INVALID,
              "has not run");
    api_scaling_close(&longer);
    api_fails(vpu_tensor_save(s.y, file_join(a, dir, "none/y.npy"), &api_err),
              VPU_ERR_IO, "none/y.npy");
    api_scaling_close(&s);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

static const struct {
    const char *dict; /* of a file that begins as numpy's */
    vpu_status status;
    const char *words;
} files[] = {
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4), }",
     VPU_ERR_UNSUPPORTED, "in Fortran order"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (8,), }",
     VPU_ERR_UNSUPPORTED, "'>f4'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536), }",
     VPU_ERR_LIMIT, "4 GiB"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 8, }", VPU_ERR_PARSE,
     "not a tuple"},
};
enum { N_FILES = sizeof files / sizeof *files };

START_TEST(files_of_numpy_that_do_not_fit)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *path = file_join(a, dir, "x.npy");
    char bytes[128 + 32] = "\x93NUMPY\1\0\x76";
    api_scaling s;

    memset(bytes + 10, ' ', 118);
    memcpy(bytes + 10, files[_i].dict, strlen(files[_i].dict));
    bytes[127] = '\n';
    ck_assert(!file_write(path, bytes, sizeof bytes, NULL));
    api_scaling_open(&s, sim, 8, 2);
    api_fails(vpu_tensor_fill(s.x, path, &api_err), files[_i].status,
              files[_i].words);
    ck_assert_ptr_nonnull(strstr(api_err.msg, path));
    api_scaling_close(&s);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

/* --- what does not fit ---------------------------------------------------- */

START_TEST(sizes_that_do_not_fit)
{
    static const char required[] =
        "__attribute__((reqd_work_group_size(4, 2, 1)))\n"
        "__kernel void r(__global int *x) { x[get_global_id(0)] = 1; }\n";
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;
    vpu_program *p = api_program(sim, required);
    const vpu_kernel *k;
    vpu_operation *op;
    api_scaling s;

    api_scaling_open(&s, sim, 8, 2);
    o.global[0] = 10;
    o.local[0] = 4;
    api_fails(vpu_graph_add_kernel(s.graph, s.kernel, &o, &op, &api_err),
              VPU_ERR_INVALID, "global[0] is 10");
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    o.global[0] = 8;
    api_fails(vpu_graph_add_kernel(s.graph, k, &o, &op, &api_err),
              VPU_ERR_INVALID, "requires work-groups of 4,2,1");
    o.local[0] = 0; /* as required, which does not divide 1 */
    api_fails(vpu_graph_add_kernel(s.graph, k, &o, &op, &api_err),
              VPU_ERR_INVALID, "global[1] is 1");
    o.global[1] = 2;
    api_ok(vpu_graph_add_kernel(s.graph, k, &o, &op, &api_err));
    api_scaling_close(&s);
    vpu_program_free(p);
}
END_TEST

START_TEST(arguments_that_do_not_fit)
{
    vpu_context *other = api_context(NULL);
    vpu_operation *op;
    api_scaling s, o;
    vpu_tensor *h;

    api_scaling_open(&s, sim, 8, 2);
    api_scaling_open(&o, other, 8, 2);
    op = s.operation;
    h = api_tensor(s.graph, "h", VPU_ROLE_VIRTUAL, VPU_F16, 8);
    api_fails(vpu_operation_set_real(op, "factor", 1, &api_err),
              VPU_ERR_INVALID, "no argument 'factor'");
    api_fails(vpu_operation_set_real(op, "g", 1, &api_err), VPU_ERR_INVALID,
              "no argument 'g'");
    api_fails(vpu_operation_set_integer(op, "f", 1, &api_err), VPU_ERR_MISMATCH,
              "vpu_operation_set_real");
    api_fails(vpu_operation_set_tensor(op, "f", s.x, &api_err),
              VPU_ERR_MISMATCH, "float, not a tensor");
    api_fails(vpu_operation_set_real(op, "x", 1, &api_err), VPU_ERR_MISMATCH,
              "vpu_operation_set_tensor");
    api_fails(vpu_operation_set_local(op, "x", 1, &api_err), VPU_ERR_MISMATCH,
              "not local memory");
    api_fails(vpu_operation_set_local(op, "z", 1, &api_err), VPU_ERR_INVALID,
              "no argument 'z'");
    api_fails(vpu_operation_set_memory(op, "z", s.x, &api_err), VPU_ERR_INVALID,
              "no argument 'z'");
    api_fails(vpu_operation_set_memory(op, "f", s.x, &api_err),
              VPU_ERR_MISMATCH, "float, not a tensor");
    api_fails(vpu_operation_set_tensor(op, "x", o.x, &api_err), VPU_ERR_INVALID,
              "of another graph");
    api_fails(vpu_operation_set_tensor(op, "x", s.x, &api_err), VPU_ERR_INVALID,
              "already");
    api_fails(vpu_graph_add_kernel(s.graph, o.kernel, NULL, &op, &api_err),
              VPU_ERR_INVALID, "another context");
    api_ok(vpu_graph_add_kernel(s.graph, s.kernel, NULL, &op, &api_err));
    api_fails(vpu_operation_set_tensor(op, "x", h, &api_err), VPU_ERR_MISMATCH,
              "tensor h holds f16");
    api_scaling_close(&s);
    api_scaling_close(&o);
    vpu_context_free(other);
}
END_TEST

START_TEST(integers_that_do_not_fit)
{
    static const struct {
        const char *name;
        int64_t value;
    } bad[] = {{"a", 128},        {"a", -129}, {"b", -1},         {"b", 256},
               {"c", 32768},      {"d", -1},   {"e", 2147483648}, {"f", -1},
               {"f", 4294967296}, {"h", -1}};
    vpu_program *p = api_program(sim, scalars);
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_graph *g;

    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_ok(vpu_graph_add_kernel(g, k, NULL, &op, &api_err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        api_fails(
            vpu_operation_set_integer(op, bad[i].name, bad[i].value, &api_err),
            VPU_ERR_INVALID, "does not hold");
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

START_TEST(graphs_that_are_not_whole)
{
    api_scaling s;
    vpu_operation *op;
    vpu_tensor *v, *t;
    vpu_graph *empty;
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;

    api_ok(vpu_graph_create(&empty, sim, &api_err));
    api_fails(vpu_graph_finalize(empty, &api_err), VPU_ERR_INVALID,
              "no operation");
    vpu_graph_free(empty);

    api_scaling_open(&s, sim, 8, 2);
    v = api_tensor(s.graph, "v", VPU_ROLE_VIRTUAL, VPU_F32, 8);
    t = api_tensor(s.graph, "z", VPU_ROLE_OUTPUT, VPU_F32, 8);
    api_ok(vpu_graph_add_kernel(s.graph, s.kernel, NULL, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", v, &api_err));
    api_fails(vpu_graph_run(s.graph, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "not finalized");
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_INVALID,
              "argument 'y' (float*) of kernel 'scale' is not set");
    api_ok(vpu_operation_set_tensor(op, "y", t, &api_err));
    api_ok(vpu_operation_set_real(op, "f", 1, &api_err));
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_INVALID,
              "reads tensor v");
    /* What was refused can be mended. */
    api_ok(vpu_graph_add_kernel(s.graph, s.kernel, NULL, &op, &api_err));
    api_scaling_close(&s);

    api_scaling_open(&s, sim, 8, 2);
    api_tensor(s.graph, "z", VPU_ROLE_OUTPUT, VPU_F32, 8);
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_INVALID,
              "nothing writes output z");
    api_scaling_close(&s);

    api_scaling_open(&s, sim, 8, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_graph_finalize(s.graph, &api_err)); /* nothing more to do */
    api_fails(vpu_graph_run(s.graph, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "input x was never written");
    o.role = VPU_ROLE_INPUT;
    o.type = VPU_F32;
    o.rank = o.dims[0] = 1;
    api_fails(vpu_graph_tensor(s.graph, &o, &t, &api_err), VPU_ERR_INVALID,
              "finalized");
    api_fails(vpu_graph_add_kernel(s.graph, s.kernel, NULL, &op, &api_err),
              VPU_ERR_INVALID, "finalized");
    api_fails(vpu_operation_set_real(s.operation, "f", 1, &api_err),
              VPU_ERR_INVALID, "finalized");
    api_scaling_close(&s);
}
END_TEST

/* --- faults, limits, cancelling ------------------------------------------- */

static const char runaway[] = "__kernel void spin(__global int *x, int n)\n"
                              "{\n"
                              "    while (x[0] != n)\n"
                              "        x[1]++;\n"
                              "}\n"
                              "__kernel void beyond(__global int *x, int n)\n"
                              "{\n"
                              "    x[n] = get_global_id(0);\n"
                              "}\n";

/* A graph of one kernel of runaway, with an in-place input. */
static vpu_graph *run_away(vpu_context *c, const char *kernel, int n)
{
    vpu_program *p = api_program(c, runaway);
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_graph *g;
    vpu_tensor *x;

    api_ok(vpu_program_kernel(p, kernel, &k, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_I32, 16);
    api_ok(vpu_graph_add_kernel(g, k, NULL, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", n, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "zeros", &api_err));
    vpu_program_free(p); /* the graph keeps it */
    return g;
}

START_TEST(faults_name_their_line)
{
    vpu_graph *g = run_away(sim, "beyond", 100000000);

    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_FAULT,
              "source.cl:8");
    ck_assert_str_eq(api_err.file, "source.cl");
    ck_assert_uint_eq(api_err.line, 8);
    /* The graph is as before. */
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_FAULT, "beyond");
    vpu_graph_free(g);
}
END_TEST

START_TEST(cycles_and_seconds_are_limited)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_findings *f;
    vpu_context *c;
    vpu_graph *g;

    o.max_cycles = 100000;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = run_away(c, "spin", 1);
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_LIMIT, "100000");
    api_fails(vpu_graph_check(&f, g, NULL, &api_err), VPU_ERR_LIMIT,
              "over 100000 cycles");
    ck_assert_ptr_null(f);
    vpu_graph_free(g);
    vpu_context_free(c);
    o.max_cycles = UINT64_MAX;
    o.timeout = 0.3;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = run_away(c, "spin", 1);
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_LIMIT, "0.3 s");
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

static void *cancel_soon(void *graph)
{
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
    vpu_graph_cancel(graph);
    return NULL;
}

START_TEST(runs_are_cancelled)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    vpu_graph *g;
    pthread_t thread;

    o.max_cycles = UINT64_MAX;
    o.timeout = -1;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = run_away(c, "spin", 1);
    vpu_graph_cancel(g); /* none is under way: nothing happens */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, g), 0);
        api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_STOPPED,
                  "cancelled");
        pthread_join(thread, NULL);
    }
    /* And the graph runs again. */
    ((int32_t *)vpu_tensor_data(vpu_graph_tensor_named(g, "x")))[0] = 1;
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

/* Also what opens devices of its own, with one call to cancel it. */
START_TEST(other_work_is_cancelled)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    vpu_graph *g;
    vpu_findings *f;
    vpu_diff *d;
    pthread_t thread;

    o.max_cycles = UINT64_MAX;
    o.timeout = -1;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = run_away(c, "spin", 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, g), 0);
    switch (_i) {
    case 0:
        api_fails(vpu_graph_check(&f, g, NULL, &api_err), VPU_ERR_STOPPED,
                  "cancelled");
        break;
    case 1:
        api_fails(vpu_graph_tune(g, NULL, &api_err), VPU_ERR_STOPPED,
                  "cancelled");
        break;
    default:
        api_fails(vpu_diff_create(&d, g, g, NULL, &api_err), VPU_ERR_STOPPED,
                  "cancelled");
    }
    pthread_join(thread, NULL);
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

START_TEST(work_items_that_miss_a_barrier)
{
    vpu_program *p =
        api_program(sim, "__kernel void split(__global int *x)\n{\n"
                         "    if (get_local_id(0) < 3)\n"
                         "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "    x[get_global_id(0)] = 1;\n}\n");
    vpu_launch_options o = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_graph *g;

    o.global[0] = o.local[0] = 16;
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_ok(vpu_graph_add_kernel(g, k, &o, &op, &api_err));
    api_ok(vpu_operation_set_tensor(
        op, "x", api_tensor(g, "x", VPU_ROLE_OUTPUT, VPU_I32, 16), &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_UNDEFINED,
              "not all work-items reach the same barrier");
    ck_assert_ptr_nonnull(strstr(api_err.msg, "source.cl:4"));
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

/* The device has 512 MiB. */
START_TEST(tensors_that_the_device_has_no_room_for)
{
    api_scaling s;

    api_scaling_open(&s, sim, 80000000, 2);
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_LIMIT,
              "buffers need 640000000 bytes, the device has 536870912");
    api_scaling_close(&s);
}
END_TEST

/* --- callbacks ------------------------------------------------------------ */

typedef struct {
    str text;
} heard;

static void hear(void *user, const char *text, size_t n)
{
    str_add(&((heard *)user)->text, text, n);
}

START_TEST(printf_goes_to_the_callback)
{
    heard h = {0};
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_context *c;
    vpu_program *p;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_graph *g;

    o.print = hear;
    o.user = &h;
    api_ok(vpu_context_create(&c, &o, &api_err));
    p = api_program(c, "__kernel void say(int n)\n"
                       "{ printf(\"%d\\n\", n + (int)get_group_id(0)); }\n");
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    l.global[0] = 3;
    l.local[0] = 1;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", 40, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    ck_assert_str_eq(str_text(&h.text), "40\n41\n42\n");
    vpu_graph_free(g);
    vpu_program_free(p);
    vpu_context_free(c);
    str_free(&h.text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("graphs");
    Suite *suite = suite_create("library: graphs of kernels");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_kernel);
    tcase_add_test(t, one_kernel_on_opencl);
    tcase_add_test(t, scalars_of_all_types);
    tcase_add_test(t, a_chain_of_kernels);
    tcase_add_test(t, tensors_tell_what_they_are);
    tcase_add_test(t, types_have_sizes_and_names);
    tcase_add_test(t, impossible_tensors);
    tcase_add_test(t, sizes_whose_product_overflows);
    tcase_add_test(t, a_copied_descriptor_gives_an_equal_tensor);
    tcase_add_test(t, shapes_as_texts);
    tcase_add_test(t, contents_in_and_out);
    tcase_add_loop_test(t, files_of_numpy_that_do_not_fit, 0, N_FILES);
    tcase_add_test(t, sizes_that_do_not_fit);
    tcase_add_test(t, arguments_that_do_not_fit);
    tcase_add_test(t, integers_that_do_not_fit);
    tcase_add_test(t, graphs_that_are_not_whole);
    tcase_add_test(t, faults_name_their_line);
    tcase_add_test(t, cycles_and_seconds_are_limited);
    tcase_add_test(t, runs_are_cancelled);
    tcase_add_loop_test(t, other_work_is_cancelled, 0, 3);
    tcase_add_test(t, work_items_that_miss_a_barrier);
    tcase_add_test(t, tensors_that_the_device_has_no_room_for);
    tcase_add_test(t, printf_goes_to_the_callback);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
