/* What programs see of the OpenCL driver beside values: binaries of all kinds
 * of programs, states of events, large kernels. Through the table, as a loader
 * calls it. */
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/kernel.h"
#include "sim/exec/exec.h"
#include "tests/runtime/icd/icd_rig.h"

static void expect_no_error(cl_program p)
{
    char log[4096] = "";

    CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                              NULL);
    ck_assert_msg(!rc, "%d: %s", rc, log);
}

static cl_program linked(cl_uint n, const cl_program *parts,
                         const char *options)
{
    cl_program p = CL->clLinkProgram(context, 1, &device, options, n, parts,
                                     NULL, NULL, &rc);

    OK(rc);
    return p;
}

/* What the kernel writes to its first argument's only number. */
static cl_int result_of(cl_program p, const char *name)
{
    static const size_t one = 1;
    cl_kernel k = CL->clCreateKernel(p, name, &rc);
    cl_int got = -1;
    cl_mem m;

    OK(rc);
    m = CL->clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, &rc);
    OK(rc);
    OK(CL->clSetKernelArg(k, 0, sizeof m, &m));
    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL,
                                  NULL));
    OK(CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, &got, 0, NULL,
                               NULL));
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseKernel(k));
    return got;
}

static cl_program_binary_type type_of(cl_program p)
{
    cl_program_binary_type type;

    OK(CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BINARY_TYPE, sizeof type,
                                 &type, NULL));
    return type;
}

/* --- binaries ------------------------------------------------------------- */

static unsigned char *binary_of(cl_program p, size_t *n)
{
    unsigned char *bytes;

    OK(CL->clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof *n, n, NULL));
    ck_assert_uint_gt(*n, 0);
    bytes = malloc(*n);
    OK(CL->clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes,
                            NULL));
    return bytes;
}

/* The program once more, from its binary alone. */
static cl_program again(cl_program p)
{
    size_t n;
    unsigned char *bytes = binary_of(p, &n);
    cl_int status = -1;
    cl_program q = CL->clCreateProgramWithBinary(
        context, 1, &device, &n, (const unsigned char **)&bytes, &status, &rc);

    OK(rc);
    OK(status);
    free(bytes);
    OK(CL->clReleaseProgram(p));
    return q;
}

static const char square[] = "int square(int x) { return x * x * BY; }\n"
                             "kernel void first(global int *o) { *o = 7; }\n";
static const char uses_it[] = "#include \"signs/square.h\"\n"
                              "kernel void second(global int *o)\n"
                              "{ *o = square(SIDE); }\n";
static const char sign[] = "int square(int x);\n"
                           "#define SIDE 6\n";

/* Objects with options and headers, a library of one of them, and what is
 * linked of both, each made again from its binary. */
START_TEST(binaries_of_all_kinds)
{
    static const char *const name = "signs/square.h";
    cl_program parts[2] = {source(square), source(uses_it)};
    cl_program header = source(sign), library, whole;

    rc = CL->clCompileProgram(parts[0], 1, &device, "-D BY=3", 0, NULL, NULL,
                              NULL, NULL);
    expect_no_error(parts[0]);
    rc = CL->clCompileProgram(parts[1], 1, &device, NULL, 1, &header,
                              (const char **)&name, NULL, NULL);
    expect_no_error(parts[1]);
    OK(CL->clReleaseProgram(header));
    for (int i = 0; i < 2; i++) {
        parts[i] = again(parts[i]);
        ck_assert_uint_eq(type_of(parts[i]),
                          CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    }
    library = again(linked(1, parts, "-create-library"));
    ck_assert_uint_eq(type_of(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    whole = linked(2, (cl_program[]){library, parts[1]}, NULL);
    ck_assert_int_eq(result_of(whole, "second"), 108);
    whole = again(whole);
    ck_assert_uint_eq(type_of(whole), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    rc = CL->clBuildProgram(whole, 1, &device, NULL, NULL, NULL);
    expect_no_error(whole);
    ck_assert_int_eq(result_of(whole, "first"), 7);
    ck_assert_int_eq(result_of(whole, "second"), 108);
    OK(CL->clReleaseProgram(whole));
    OK(CL->clReleaseProgram(library));
    OK(CL->clReleaseProgram(parts[0]));
    OK(CL->clReleaseProgram(parts[1]));
}
END_TEST

/* Options that come with a binary do not replace those of its text. */
START_TEST(binary_keeps_its_options)
{
    cl_program p =
        again(built("kernel void k(global int *o) { *o = N; }", "-D N=41"));

    rc = CL->clBuildProgram(p, 1, &device, "-w", NULL, NULL);
    expect_no_error(p);
    ck_assert_int_eq(result_of(p, "k"), 41);
    FAILS(CL->clBuildProgram(p, 1, &device, "-nix", NULL, NULL),
          CL_INVALID_BUILD_OPTIONS);
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* A build without options is one without, whatever was there before. */
START_TEST(built_again_without_options)
{
    cl_program p = built("#ifndef N\n#define N 3\n#endif\n"
                         "kernel void k(global int *o) { *o = N; }",
                         "-DN=5");
    char options[16] = "?";

    ck_assert_int_eq(result_of(p, "k"), 5);
    OK(CL->clBuildProgram(p, 1, &device, NULL, NULL, NULL));
    ck_assert_int_eq(result_of(p, "k"), 3);
    OK(CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_OPTIONS,
                                 sizeof options, options, NULL));
    ck_assert_str_eq(options, "");
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* Cut off anywhere, or with a number that is too large, it is no binary. */
START_TEST(broken_binaries)
{
    cl_program p = built("kernel void k(global int *o) { *o = 1; }", "");
    size_t n;
    unsigned char *bytes = binary_of(p, &n);

    for (size_t k = 1; k < n; k++) {
        cl_int status = 0;

        ck_assert_ptr_null(CL->clCreateProgramWithBinary(
            context, 1, &device, &k, (const unsigned char **)&bytes, &status,
            &rc));
        FAILS(rc, CL_INVALID_BINARY);
        FAILS(status, CL_INVALID_BINARY);
    }
    for (size_t k = 0; k < n; k++) {
        unsigned char was = bytes[k];
        cl_program q;

        bytes[k] = '9';
        q = CL->clCreateProgramWithBinary(
            context, 1, &device, &n, (const unsigned char **)&bytes, NULL, &rc);
        if (q)
            OK(CL->clReleaseProgram(q));
        bytes[k] = was;
    }
    free(bytes);
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* --- options -------------------------------------------------------------- */

/* A version that is asked for is the one that the text sees; warnings are
 * errors where they shall be, and only there. */
START_TEST(options_say_what_they_do)
{
    static const char versions[] =
        "kernel void k(global int *o) { *o = __OPENCL_C_VERSION__; }";
    static const char warns[] =
        "#warning beware\nkernel void k(global int *o) { *o = 9; }";
    static const struct {
        const char *options;
        cl_int version;
    } rows[] = {{"", 120},
                {"-cl-std=CL1.2 -Werror", 120},
                {"-cl-std=CL1.1", 110},
                {"-w -cl-std=CL1.0 -cl-mad-enable", 100}};
    cl_program p;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        p = built(versions, rows[i].options);
        ck_assert_int_eq(result_of(p, "k"), rows[i].version);
        OK(CL->clReleaseProgram(p));
    }
    p = built(warns, "-cl-no-signed-zeros");
    ck_assert_int_eq(result_of(p, "k"), 9);
    FAILS(CL->clBuildProgram(p, 1, &device, "-Werror", NULL, NULL),
          CL_BUILD_PROGRAM_FAILURE);
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* --- kernels -------------------------------------------------------------- */

/* Of arguments of linked programs, too, if their parts were compiled so. */
START_TEST(arguments_of_linked_kernels)
{
    cl_program part = source("kernel void k(global float *apples) {}"), whole;
    char name[16] = "";
    cl_kernel k;

    rc = CL->clCompileProgram(part, 1, &device, "-cl-kernel-arg-info", 0, NULL,
                              NULL, NULL, NULL);
    expect_no_error(part);
    whole = linked(1, &part, NULL);
    k = CL->clCreateKernel(whole, "k", &rc);
    OK(rc);
    OK(CL->clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof name, name,
                              NULL));
    ck_assert_str_eq(name, "apples");
    OK(CL->clReleaseKernel(k));
    OK(CL->clReleaseProgram(whole));
    OK(CL->clReleaseProgram(part));
}
END_TEST

/* What kernels see of addresses: each of its type's size in line, wherever it
 * lies, and the same as a number of 64 bits. */
#define NUMBERED(T)                                                           \
    "typedef struct { " T " v; char more; } mixed;\n"                         \
    "constant char before = 1; constant " T " known[2] = {1, 2};\n"           \
    "constant mixed pair = {3, 4};\n"                                         \
    "kernel void k(global ulong *o, local char *a, local " T " *b,\n"         \
    "              local short *c, local mixed *d) {\n"                       \
    "    local char e[5]; local " T " f[3]; local mixed g;\n"                 \
    "    private char h[3]; private " T " i[2];\n"                            \
    "    e[0] = a[0] = c[0] = 1; g.v = b[0] = f[1] = 2; d->more = 3;\n"       \
    "    h[o[7] & 1] = 1; i[o[7] & 1] = 4;\n"                                 \
    "    o[0] = sizeof(" T ");\n"                                             \
    "    o[1] = (ulong)b; o[2] = (ulong)&f[2]; o[3] = (ulong)&g;\n"           \
    "    o[4] = (ulong)known; o[5] = (ulong)&pair + (ulong)&before * 0;\n"    \
    "    o[6] = (ulong)&i[h[0] & 1]; o[8] = (ulong)&known[1] - (ulong)known;" \
    "    o[9] = (uint)known == (ulong)known; o[10] = (uchar)(ulong)&f[1];\n"  \
    "}\n"

START_TEST(types_lie_in_line)
{
    static const char *const texts[] = {NUMBERED("long16"),  NUMBERED("int16"),
                                        NUMBERED("short8"),  NUMBERED("float8"),
                                        NUMBERED("uchar16"), NUMBERED("int3")};
    static const size_t one = 1;

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        cl_program p = built(texts[t], "");
        cl_kernel k = CL->clCreateKernel(p, "k", &rc);
        cl_ulong got[11] = {0};
        cl_mem m;

        OK(rc);
        m = CL->clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof got, got,
                               &rc);
        OK(rc);
        OK(CL->clSetKernelArg(k, 0, sizeof m, &m));
        OK(CL->clSetKernelArg(k, 1, 24, NULL));
        OK(CL->clSetKernelArg(k, 2, 384, NULL));
        OK(CL->clSetKernelArg(k, 3, 40, NULL));
        OK(CL->clSetKernelArg(k, 4, 512, NULL));
        OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL,
                                      NULL));
        OK(CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0,
                                   NULL, NULL));
        ck_assert_uint_gt(got[0], 0);
        for (int i = 1; i < 7; i++)
            ck_assert_msg(got[i] && got[i] % got[0] == 0, "%zu, %d: %llx", t, i,
                          (unsigned long long)got[i]);
        ck_assert_uint_eq(got[8], got[0]);
        ck_assert_uint_eq(got[9], 1);
        ck_assert_uint_eq(got[10], (got[2] - got[0]) & 0xff);
        OK(CL->clReleaseMemObject(m));
        OK(CL->clReleaseKernel(k));
        OK(CL->clReleaseProgram(p));
    }
}
END_TEST

/* All of the local memory in one argument, whatever its type. */
START_TEST(local_memory_to_the_last_byte)
{
    static const size_t one = 1;
    cl_program p = built("kernel void k(global uint *o, local long16 *a) {\n"
                         "    volatile local uint *last = (local uint *)a;\n"
                         "    last[25599] = 5; o[0] = last[25599];\n"
                         "}\n",
                         "");
    cl_kernel k = CL->clCreateKernel(p, "k", &rc);
    cl_ulong bytes;
    cl_uint got = 0;
    cl_mem m;

    OK(rc);
    OK(CL->clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof bytes,
                           &bytes, NULL));
    ck_assert_uint_eq(bytes, 800 * 128);
    m = CL->clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, &rc);
    OK(rc);
    OK(CL->clSetKernelArg(k, 0, sizeof m, &m));
    OK(CL->clSetKernelArg(k, 1, (size_t)bytes, NULL));
    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL,
                                  NULL));
    OK(CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, &got, 0, NULL,
                               NULL));
    ck_assert_uint_eq(got, 5);
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseKernel(k));
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* A block with more accesses of global memory than the log of the caches
 * holds. */
START_TEST(long_straight_kernel)
{
    enum { LINES = 2500 };
    str text = {0};
    cl_program p;

    str_puts(&text, "kernel void k(volatile global int *o) {\n");
    for (int i = 0; i < LINES; i++)
        str_printf(&text, "o[0] = %s%d;\n", i ? "o[0] + " : "", i % 5);
    str_puts(&text, "}\n");
    p = built(str_text(&text), "");
    ck_assert_int_eq(result_of(p, "k"), LINES * 2);
    OK(CL->clReleaseProgram(p));
    str_free(&text);
}
END_TEST

/* Very many wide values in one block take no memory by the square of them. */
START_TEST(many_wide_values)
{
#ifdef __SANITIZE_ADDRESS__ /* takes memory of its own */
    const child_limits limits = {.seconds = 60};
#else
    const child_limits limits = {.seconds = 60, .bytes = 500 << 20};
#endif
    const kernel_compile_config cfg = {
        .user = {.no_cache = true, .limits = &limits}, .hooks = &exec_hooks};
    arena *a = arena_create(0);
    str text = {.arena = a};
    sim_kernel *k = NULL;
    vpu_error err;

    str_puts(&text, "kernel void k(global ulong *s, global ulong16 *r) {\n");
    for (int i = 0; i < 60; i++)
        str_printf(&text,
                   "r[%d] = (ulong16)(s[%d], s[%d], vload2(%d, s), "
                   "vload4(0, s + %d), vload8(0, s + %d));\n",
                   i, i % 5, i % 7, i % 6, i % 11, i % 8);
    str_puts(&text, "}\n");
    ck_assert_msg(
        !kernel_compile(&(const kernel_source){.path = "k.cl",
                                               .entry = "k",
                                               .text = str_text(&text)},
                        &cfg, a, &k, &err),
        "%s", err.msg);
    kernel_release(k);
    arena_destroy(a);
}
END_TEST

/* The same address for all items, which take it several at once. */
START_TEST(addresses_of_vectorized_items)
{
    enum { N = 64 };
    static const size_t n = N;
    cl_program p = built("constant int2 pair[4] = {1, 2, 3, 4};\n"
                         "kernel void k(global uint *o, global uint *q) {\n"
                         "    local float8 mine;\n"
                         "    o[get_global_id(0)] = (uint)&mine;\n"
                         "    q[get_global_id(0)] = (uint)&pair[2] - 3;\n"
                         "}\n",
                         "");
    cl_kernel k = CL->clCreateKernel(p, "k", &rc);
    cl_uint got[2][N];
    cl_mem m[2];

    OK(rc);
    for (cl_uint i = 0; i < 2; i++) {
        m[i] = CL->clCreateBuffer(context, 0, sizeof got[i], NULL, &rc);
        OK(rc);
        OK(CL->clSetKernelArg(k, i, sizeof m[i], &m[i]));
    }
    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, &n, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        OK(CL->clEnqueueReadBuffer(queue, m[i], CL_TRUE, 0, sizeof got[i],
                                   got[i], 0, NULL, NULL));
        OK(CL->clReleaseMemObject(m[i]));
    }
    ck_assert_uint_eq(got[0][0] % 32, 0);
    ck_assert_uint_eq((got[1][0] + 3) % 8, 0);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < N; j++)
            ck_assert_uint_eq(got[i][j], got[i][0]);
    OK(CL->clReleaseKernel(k));
    OK(CL->clReleaseProgram(p));
}
END_TEST

/* --- events --------------------------------------------------------------- */

static cl_int status_of(cl_event e)
{
    cl_int status = -100;

    OK(CL->clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                          &status, NULL));
    return status;
}

/* A command stays queued as long as it waits for an event. */
START_TEST(queued_until_events_are_there)
{
    cl_event gate = CL->clCreateUserEvent(context, &rc), e[2];
    cl_ulong times[4];
    cl_mem m;

    OK(rc);
    m = CL->clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, &rc);
    OK(rc);
    OK(CL->clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, 4, "abc", 1, &gate,
                                &e[0]));
    OK(CL->clEnqueueMarkerWithWaitList(queue, 1, &e[0], &e[1]));
    OK(CL->clFlush(queue));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_of(e[i]), CL_QUEUED);
    OK(CL->clSetUserEventStatus(gate, CL_COMPLETE));
    OK(CL->clWaitForEvents(2, e));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(status_of(e[i]), CL_COMPLETE);
    for (cl_uint i = 0; i < 4; i++)
        OK(CL->clGetEventProfilingInfo(e[0], CL_PROFILING_COMMAND_QUEUED + i,
                                       sizeof *times, &times[i], NULL));
    for (int i = 0; i < 3; i++)
        ck_assert_uint_le(times[i], times[i + 1]);
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseEvent(gate));
    OK(CL->clReleaseEvent(e[0]));
    OK(CL->clReleaseEvent(e[1]));
}
END_TEST

static Suite *behaviour_suite(void)
{
    Suite *s = suite_create("icd behaviour");
    TCase *t = tcase_create("icd behaviour");

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, binaries_of_all_kinds);
    tcase_add_test(t, binary_keeps_its_options);
    tcase_add_test(t, built_again_without_options);
    tcase_add_test(t, broken_binaries);
    tcase_add_test(t, options_say_what_they_do);
    tcase_add_test(t, types_lie_in_line);
    tcase_add_test(t, local_memory_to_the_last_byte);
    tcase_add_test(t, arguments_of_linked_kernels);
    tcase_add_test(t, long_straight_kernel);
    tcase_add_test(t, many_wide_values);
    tcase_add_test(t, addresses_of_vectorized_items);
    tcase_add_test(t, queued_until_events_are_there);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    SRunner *r = srunner_create(behaviour_suite());

    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
