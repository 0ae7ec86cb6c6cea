/* The OpenCL driver through its table of functions, as a loader calls it. What
 * is computed is compared with plain C. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/icd/icd_rig.h"

static void run(cl_kernel k, cl_uint dims, const size_t *offset,
                const size_t *global, const size_t *local)
{
    OK(CL->clEnqueueNDRangeKernel(queue, k, dims, offset, global, local, 0,
                                  NULL, NULL));
}

static void read_back(cl_mem m, void *to, size_t n)
{
    OK(CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 0, n, to, 0, NULL, NULL));
}

/* --- queries -------------------------------------------------------------- */

START_TEST(device_queries)
{
    static const cl_device_info all[] = {
#define TEXT(query, text) query,
#define ANSWER(query, type, value) query,
#include "runtime/icd/device.def"
        CL_DEVICE_MAX_WORK_ITEM_SIZES};
    char value[1024];
    size_t n;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OK(CL->clGetDeviceInfo(device, all[i], 0, NULL, &n));
        ck_assert_uint_le(n, sizeof value);
        OK(CL->clGetDeviceInfo(device, all[i], n, value, NULL));
        FAILS(CL->clGetDeviceInfo(device, all[i], n - 1, value, NULL),
              CL_INVALID_VALUE);
    }
    FAILS(CL->clGetDeviceInfo(device, 0x12345, sizeof value, value, NULL),
          CL_INVALID_VALUE);
    FAILS(CL->clGetDeviceIDs(platform, 0, 1, &device, NULL),
          CL_INVALID_DEVICE_TYPE);
    FAILS(CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL),
          CL_DEVICE_NOT_FOUND);
    FAILS(CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL),
          CL_INVALID_VALUE);
}
END_TEST

/* What a 1.2 program can reach is a function, and so is the rest but for what
 * other systems have. */
START_TEST(no_gaps)
{
    const void *const *table = (const void *const *)&icd_dispatch;
    size_t empty = 0;

    for (size_t i = 0; i < sizeof icd_dispatch / sizeof *table; i++)
        empty += !table[i];
    ck_assert_uint_eq(empty, 16); /* Direct3D 10, 11, Direct X 9 */
#define FUNCTION(name)                                                 \
    ck_assert_ptr_nonnull((const void *)(uintptr_t)icd_dispatch.name); \
    ck_assert_ptr_eq(CL->clGetExtensionFunctionAddress(#name),         \
                     (const void *)(uintptr_t)icd_dispatch.name);
#include "runtime/icd/functions.def"
    ck_assert_ptr_null(CL->clGetExtensionFunctionAddress("clNix"));
}
END_TEST

/* Handles are looked up, never followed. */
START_TEST(handles)
{
    char other[64] = {0};
    cl_mem m = buffer(CL_MEM_READ_WRITE, 64, NULL);
    const void *bad[] = {NULL, other, queue, context, (void *)8};
    cl_uint refs;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(CL->clRetainMemObject((cl_mem)bad[i]), CL_INVALID_MEM_OBJECT);
        FAILS(CL->clReleaseMemObject((cl_mem)bad[i]), CL_INVALID_MEM_OBJECT);
        FAILS(CL->clReleaseEvent((cl_event)bad[i]), CL_INVALID_EVENT);
        FAILS(CL->clReleaseKernel((cl_kernel)bad[i]), CL_INVALID_KERNEL);
        FAILS(CL->clReleaseProgram((cl_program)bad[i]), CL_INVALID_PROGRAM);
    }
    FAILS(CL->clFinish((cl_command_queue)m), CL_INVALID_COMMAND_QUEUE);
    OK(CL->clRetainMemObject(m));
    OK(CL->clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs,
                              NULL));
    ck_assert_uint_eq(refs, 2);
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseMemObject(m));
    FAILS(CL->clReleaseMemObject(m), CL_INVALID_MEM_OBJECT);
}
END_TEST

/* --- memory --------------------------------------------------------------- */

START_TEST(buffers)
{
    char host[256] = {0};
    cl_mem m, part;
    cl_buffer_region r = {128, 64};

    CL->clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &rc);
    FAILS(rc, CL_INVALID_BUFFER_SIZE);
    CL->clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 1, NULL,
                       &rc);
    FAILS(rc, CL_INVALID_VALUE);
    CL->clCreateBuffer(context, CL_MEM_READ_WRITE, 256, host, &rc);
    FAILS(rc, CL_INVALID_HOST_PTR);
    CL->clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 256, NULL, &rc);
    FAILS(rc, CL_INVALID_HOST_PTR);
    m = buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 256, NULL);
    FAILS(
        CL->clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, 1, host, 0, NULL, NULL),
        CL_INVALID_OPERATION);
    FAILS(
        CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 256, 1, host, 0, NULL, NULL),
        CL_INVALID_VALUE);
    part = CL->clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &rc);
    OK(rc);
    CL->clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &rc);
    FAILS(rc, CL_INVALID_MEM_OBJECT);
    r.origin = 4;
    CL->clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &rc);
    FAILS(rc, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    OK(CL->clReleaseMemObject(m)); /* the part keeps it */
    OK(CL->clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 64, host, 0, NULL,
                               NULL));
    OK(CL->clReleaseMemObject(part));
}
END_TEST

/* Boxes of bytes in all directions, against loops. */
START_TEST(boxes)
{
    enum { X = 7, Y = 5, Z = 3, N = X * Y * Z };
    const size_t from[3] = {1, 2, 1}, to[3] = {2, 0, 0}, size[3] = {3, 2, 2};
    uint8_t a[N], b[N], got[N] = {0}, want[N] = {0};
    cl_mem m, other;

    for (int i = 0; i < N; i++) {
        a[i] = (uint8_t)(i + 1);
        b[i] = (uint8_t)(200 - i);
    }
    m = buffer(CL_MEM_COPY_HOST_PTR, N, a);
    other = buffer(CL_MEM_COPY_HOST_PTR, N, b);
    OK(CL->clEnqueueReadBufferRect(queue, m, CL_TRUE, from, to, size, X, X * Y,
                                   X, X * Y, got, 0, NULL, NULL));
    OK(CL->clEnqueueCopyBufferRect(queue, m, other, from, to, size, X, X * Y, X,
                                   X * Y, 0, NULL, NULL));
    OK(CL->clEnqueueWriteBufferRect(queue, m, CL_TRUE, to, from, size, X, X * Y,
                                    X, X * Y, b, 0, NULL, NULL));
    for (size_t z = 0; z < size[2]; z++)
        for (size_t y = 0; y < size[1]; y++)
            for (size_t x = 0; x < size[0]; x++) {
                size_t s =
                    (from[2] + z) * X * Y + (from[1] + y) * X + from[0] + x;
                size_t t = (to[2] + z) * X * Y + (to[1] + y) * X + to[0] + x;

                want[t] = a[s];
            }
    ck_assert_mem_eq(got, want, N);
    read_back(other, got, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(got[i], want[i] ? want[i] : b[i]);
    read_back(m, got, N);
    for (size_t i = 0; i < N; i++)
        if (want[i]) {
            size_t s = i - (to[2] * X * Y + to[1] * X + to[0]) +
                       (from[2] * X * Y + from[1] * X + from[0]);

            ck_assert_uint_eq(got[i], b[s]);
        }
    FAILS(CL->clEnqueueCopyBufferRect(queue, m, m, from, from, size, X, X * Y,
                                      X, X * Y, 0, NULL, NULL),
          CL_MEM_COPY_OVERLAP);
    FAILS(CL->clEnqueueCopyBuffer(queue, m, m, 0, 4, 8, 0, NULL, NULL),
          CL_MEM_COPY_OVERLAP);
    FAILS(CL->clEnqueueReadBufferRect(queue, m, CL_TRUE, from, to, size, 2, 0,
                                      0, 0, got, 0, NULL, NULL),
          CL_INVALID_VALUE);
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseMemObject(other));
}
END_TEST

START_TEST(fill_and_map)
{
    uint32_t host[64] = {0}, *at;
    const uint16_t pattern = 0xabcd;
    cl_mem plain = buffer(CL_MEM_READ_WRITE, sizeof host, NULL),
           used = buffer(CL_MEM_USE_HOST_PTR, sizeof host, host);

    for (int i = 0; i < 2; i++) {
        cl_mem m = i ? used : plain;

        FAILS(CL->clEnqueueFillBuffer(queue, m, &pattern, 3, 0, 12, 0, NULL,
                                      NULL),
              CL_INVALID_VALUE);
        OK(CL->clEnqueueFillBuffer(queue, m, &pattern, 2, 4, 16, 0, NULL,
                                   NULL));
        at = CL->clEnqueueMapBuffer(queue, m, CL_TRUE,
                                    CL_MAP_READ | CL_MAP_WRITE, 4, 16, 0, NULL,
                                    NULL, &rc);
        OK(rc);
        if (i)
            ck_assert_ptr_eq(at, host + 1);
        ck_assert_uint_eq(at[3], 0xabcdabcd);
        at[2] = 77;
        FAILS(CL->clEnqueueUnmapMemObject(queue, m, at + 1, 0, NULL, NULL),
              CL_INVALID_VALUE);
        OK(CL->clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL));
        FAILS(CL->clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL),
              CL_INVALID_VALUE);
        OK(CL->clFinish(queue));
        memset(host, 0, sizeof host);
        read_back(m, host, sizeof host);
        ck_assert_uint_eq(host[0], 0);
        ck_assert_uint_eq(host[3], 77);
        ck_assert_uint_eq(host[5], 0);
        OK(CL->clReleaseMemObject(m));
    }
}
END_TEST

/* --- programs, kernels ---------------------------------------------------- */

static const char saxpy[] =
    "typedef struct { float a; int shift; } how;\n"
    "__kernel void saxpy(how h, __global const float *x, __global float *y,\n"
    "                    __local float *t)\n"
    "{\n"
    "    int i = get_global_id(0), l = get_local_id(0);\n"
    "    t[l] = x[i + h.shift];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    y[i] += h.a * t[get_local_size(0) - 1 - l] + get_work_dim() * BIAS;\n"
    "}\n";

START_TEST(launches)
{
    enum { N = 96, LOCAL = 8 };
    const struct {
        float a;
        int shift;
    } how = {2.5f, -32};
    const size_t offset = 32, global = N - 32, local = LOCAL;
    float x[N], y[N], got[N];
    cl_program p = built(saxpy, "-D BIAS=4 -cl-mad-enable -I \"/no such\"");
    cl_kernel k = kernel(p, "saxpy");
    cl_mem mx, my;

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(3 * i);
    }
    mx = buffer(CL_MEM_COPY_HOST_PTR, sizeof x, x);
    my = buffer(CL_MEM_COPY_HOST_PTR, sizeof y, y);
    FAILS(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0,
                                     NULL, NULL),
          CL_INVALID_KERNEL_ARGS);
    FAILS(CL->clSetKernelArg(k, 0, sizeof how + 4, &how), CL_INVALID_ARG_SIZE);
    FAILS(CL->clSetKernelArg(k, 0, sizeof how, NULL), CL_INVALID_ARG_VALUE);
    FAILS(CL->clSetKernelArg(k, 4, 4, &how), CL_INVALID_ARG_INDEX);
    FAILS(CL->clSetKernelArg(k, 1, sizeof k, &k), CL_INVALID_MEM_OBJECT);
    FAILS(CL->clSetKernelArg(k, 3, 0, NULL), CL_INVALID_ARG_SIZE);
    set(k, 0, sizeof how, &how);
    set(k, 1, sizeof mx, &mx);
    set(k, 2, sizeof my, &my);
    set(k, 3, LOCAL * sizeof(float), NULL);
    run(k, 1, &offset, &global, &local);
    read_back(my, got, sizeof got);
    for (int i = 0; i < N; i++) {
        int mirror = i / LOCAL * LOCAL + LOCAL - 1 - i % LOCAL;

        ck_assert_float_eq(got[i],
                           i < 32 ? y[i] : y[i] + 2.5f * x[mirror - 32] + 4);
    }
    OK(CL->clReleaseMemObject(mx));
    OK(CL->clReleaseMemObject(my));
    OK(CL->clReleaseKernel(k));
    OK(CL->clReleaseProgram(p));
}
END_TEST

START_TEST(bad_sizes)
{
    cl_program p = built("__kernel __attribute__((reqd_work_group_size(4, 1, "
                         "1))) void four(__global int *o) { o[0] = 1; }\n"
                         "__kernel void any(__global int *o) { o[0] = 2; }\n"
                         "__kernel void much(__global int *o)\n"
                         "{ __local int t[30000]; t[get_local_id(0)] = 1;\n"
                         "  barrier(1); o[0] = t[0]; }\n",
                         "");
    cl_kernel four = kernel(p, "four"), any = kernel(p, "any"),
              much = kernel(p, "much");
    cl_mem m = buffer(CL_MEM_READ_WRITE, 64, NULL);
    const size_t eight[3] = {8, 1, 1}, four_[3] = {4, 1, 1},
                 three[3] = {3, 1, 1}, none[3] = {8, 0, 1},
                 large[3] = {4096, 1, 1};
    const struct {
        cl_kernel k;
        cl_uint dims;
        const size_t *global, *local;
        cl_int want;
    } cases[] = {{four, 1, eight, NULL, CL_SUCCESS},
                 {four, 1, eight, four_, CL_SUCCESS},
                 {four, 1, eight, eight, CL_INVALID_WORK_GROUP_SIZE},
                 {any, 1, eight, three, CL_INVALID_WORK_GROUP_SIZE},
                 {any, 0, eight, NULL, CL_INVALID_WORK_DIMENSION},
                 {any, 4, eight, NULL, CL_INVALID_WORK_DIMENSION},
                 {any, 1, NULL, NULL, CL_INVALID_GLOBAL_WORK_SIZE},
                 {any, 2, none, NULL, CL_INVALID_GLOBAL_WORK_SIZE},
                 {any, 1, large, large, CL_INVALID_WORK_ITEM_SIZE},
                 {any, 3, eight, NULL, CL_SUCCESS},
                 {much, 1, eight, eight, CL_OUT_OF_RESOURCES}};

    set(four, 0, sizeof m, &m);
    set(any, 0, sizeof m, &m);
    set(much, 0, sizeof m, &m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        FAILS(CL->clEnqueueNDRangeKernel(queue, cases[i].k, cases[i].dims, NULL,
                                         cases[i].global, cases[i].local, 0,
                                         NULL, NULL),
              cases[i].want);
    OK(CL->clFinish(queue));
    OK(CL->clReleaseMemObject(m));
}
END_TEST

START_TEST(build_errors)
{
    const char *text = "__kernel void k(__global int *o) { o[0] = nix; }\n";
    cl_program p = CL->clCreateProgramWithSource(context, 1, &text, NULL, &rc);
    char log[4096];
    cl_build_status status;

    FAILS(CL->clBuildProgram(p, 0, NULL, "-fnix", NULL, NULL),
          CL_INVALID_BUILD_OPTIONS);
    FAILS(CL->clBuildProgram(p, 0, NULL, "-D", NULL, NULL),
          CL_INVALID_BUILD_OPTIONS);
    FAILS(CL->clBuildProgram(p, 0, NULL, NULL, NULL, NULL),
          CL_BUILD_PROGRAM_FAILURE);
    OK(CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                 log, NULL));
    ck_assert(strstr(log, "undeclared identifier 'nix'"));
    OK(CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_STATUS,
                                 sizeof status, &status, NULL));
    ck_assert_int_eq(status, CL_BUILD_ERROR);
    CL->clCreateKernel(p, "k", &rc);
    FAILS(rc, CL_INVALID_PROGRAM_EXECUTABLE);
    OK(CL->clBuildProgram(p, 0, NULL, "-Dnix=3", NULL, NULL));
    CL->clCreateKernel(p, "l", &rc);
    FAILS(rc, CL_INVALID_KERNEL_NAME);
    OK(CL->clReleaseProgram(p));
}
END_TEST

static cl_program compiled(const char *text, cl_uint n,
                           const cl_program *headers, const char **names)
{
    cl_program p = CL->clCreateProgramWithSource(context, 1, &text, NULL, &rc);

    OK(rc);
    OK(CL->clCompileProgram(p, 0, NULL, NULL, n, headers, names, NULL, NULL));
    return p;
}

START_TEST(compile_and_link)
{
    const char *header_text = "int twice(int x);\n", *name = "sub/twice.h";
    cl_program header =
        CL->clCreateProgramWithSource(context, 1, &header_text, NULL, &rc);
    cl_program parts[2] = {
        compiled("#include \"sub/twice.h\"\n"
                 "__kernel void k(__global int *o) { o[0] = twice(21); }\n",
                 1, &header, &name),
        compiled("int twice(int x) { return 2 * x; }\n", 0, NULL, NULL)};
    cl_program all =
        CL->clLinkProgram(context, 0, NULL, "", 2, parts, NULL, NULL, &rc);
    cl_mem m = buffer(CL_MEM_READ_WRITE, 4, NULL);
    const size_t one = 1;
    cl_kernel k;
    int got;
    char log[4096];

    OK(rc);
    CL->clCreateKernel(parts[0], "k", &rc);
    FAILS(rc, CL_INVALID_PROGRAM_EXECUTABLE);
    k = kernel(all, "k");
    set(k, 0, sizeof m, &m);
    run(k, 1, NULL, &one, NULL);
    read_back(m, &got, sizeof got);
    ck_assert_int_eq(got, 42);
    /* Twice what there may be once: the log says so. */
    all =
        CL->clLinkProgram(context, 0, NULL, "", 2,
                          (cl_program[]){parts[1], parts[1]}, NULL, NULL, &rc);
    FAILS(rc, CL_LINK_PROGRAM_FAILURE);
    ck_assert_ptr_nonnull(all);
    OK(CL->clGetProgramBuildInfo(all, device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                 log, NULL));
    ck_assert(strstr(log, "twice"));
    ck_assert_ptr_null(CL->clLinkProgram(context, 0, NULL, "-fnix", 2, parts,
                                         NULL, NULL, &rc));
    FAILS(rc, CL_INVALID_LINKER_OPTIONS);
    ck_assert_ptr_null(
        CL->clLinkProgram(context, 0, NULL, "", 1, &header, NULL, NULL, &rc));
    FAILS(rc, CL_INVALID_OPERATION);
}
END_TEST

/* What one run gives another takes: the same bytes. */
START_TEST(binaries)
{
    cl_program p = built("__kernel void k(__global int *o) { o[0] = N; }\n",
                         "-DN=5"),
               again;
    size_t n;
    unsigned char *bytes, *bytes2;
    cl_int status;

    OK(CL->clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL));
    bytes = malloc(n);
    bytes2 = malloc(n);
    OK(CL->clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes,
                            NULL));
    again = CL->clCreateProgramWithBinary(
        context, 1, &device, &n, (const unsigned char **)&bytes, &status, &rc);
    OK(rc);
    OK(status);
    FAILS(CL->clCompileProgram(again, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
          CL_INVALID_OPERATION);
    kernel(again, "k"); /* without being built first */
    again = CL->clCreateProgramWithBinary(
        context, 1, &device, &n, (const unsigned char **)&bytes, &status, &rc);
    OK(CL->clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
    OK(CL->clGetProgramInfo(again, CL_PROGRAM_BINARIES, sizeof bytes2, &bytes2,
                            NULL));
    ck_assert_mem_eq(bytes, bytes2, n);
    for (size_t k = 0; k < n; k++) { /* damaged: refused, or as good as it is */
        size_t less = k;

        CL->clCreateProgramWithBinary(context, 1, &device, k ? &less : &n,
                                      (const unsigned char **)&bytes, &status,
                                      &rc);
        ck_assert_int_eq(rc, k ? CL_INVALID_BINARY : CL_SUCCESS);
    }
    free(bytes);
    free(bytes2);
}
END_TEST

/* --- order ---------------------------------------------------------------- */

static void CL_CALLBACK count(cl_event e, cl_int status, void *user)
{
    (void)e;
    atomic_fetch_add((atomic_int *)user, status == CL_COMPLETE ? 1 : 100);
}

/* A queue in order stands still behind a user's event, one out of order goes on
 * with what does not wait. */
START_TEST(user_events)
{
    cl_command_queue q = CL->clCreateCommandQueue(
        context, device, _i ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &rc);
    cl_event gate = CL->clCreateUserEvent(context, &rc), held, after;
    cl_mem m = buffer(CL_MEM_READ_WRITE, 8, NULL);
    const int one = 1, two = 2;
    cl_int status;
    atomic_int calls = 0;

    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 1, &gate, &held));
    OK(CL->clEnqueueFillBuffer(q, m, &two, 4, 4, 4, 0, NULL, &after));
    OK(CL->clSetEventCallback(held, CL_COMPLETE, count, &calls));
    if (_i)
        OK(CL->clWaitForEvents(1, &after));
    OK(CL->clGetEventInfo(_i ? held : after, CL_EVENT_COMMAND_EXECUTION_STATUS,
                          sizeof status, &status, NULL));
    ck_assert_int_gt(status, CL_COMPLETE);
    ck_assert_int_eq(calls, 0);
    FAILS(CL->clSetUserEventStatus(held, CL_COMPLETE), CL_INVALID_EVENT);
    FAILS(CL->clSetUserEventStatus(gate, 1), CL_INVALID_VALUE);
    OK(CL->clSetUserEventStatus(gate, CL_COMPLETE));
    FAILS(CL->clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    OK(CL->clFinish(q));
    while (!atomic_load(&calls))
        ;
    ck_assert_int_eq(calls, 1);
    OK(CL->clReleaseEvent(gate));
    OK(CL->clReleaseEvent(held));
    OK(CL->clReleaseEvent(after));
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseCommandQueue(q));
}
END_TEST

/* Nothing runs beside the program; whoever does not wait gets there, too. */
START_TEST(without_waiting)
{
    cl_command_queue q = CL->clCreateCommandQueue(context, device, 0, &rc);
    cl_mem m = buffer(CL_MEM_READ_WRITE, 8, NULL);
    const int one = 1;
    cl_int status = CL_QUEUED;
    cl_event e, gate = CL->clCreateUserEvent(context, &rc);
    atomic_int calls = 0;

    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 0, NULL, &e));
    for (int i = 0; i < 100 && status != CL_COMPLETE; i++)
        OK(CL->clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS,
                              sizeof status, &status, NULL));
    ck_assert_int_eq(status, CL_COMPLETE);
    OK(CL->clReleaseEvent(e));
    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 0, NULL, &e));
    OK(CL->clSetEventCallback(e, CL_COMPLETE, count, &calls));
    OK(CL->clFlush(q));
    while (!atomic_load(&calls))
        ;
    OK(CL->clReleaseEvent(e));
    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 1, &gate, &e));
    OK(CL->clSetEventCallback(e, CL_COMPLETE, count, &calls));
    OK(CL->clFlush(q));
    OK(CL->clSetUserEventStatus(gate, CL_COMPLETE));
    while (atomic_load(&calls) < 2)
        ;
    OK(CL->clReleaseEvent(e));
    OK(CL->clReleaseEvent(gate));
    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 0, NULL, &e));
    OK(CL->clSetEventCallback(e, CL_COMPLETE, count, &calls));
    OK(CL->clReleaseCommandQueue(q)); /* the last reference flushes */
    while (atomic_load(&calls) < 3)
        ;
    OK(CL->clReleaseEvent(e));
    OK(CL->clReleaseMemObject(m));
}
END_TEST

/* More commands than are kept back, without a wait between. */
START_TEST(many_commands)
{
    cl_command_queue q = CL->clCreateCommandQueue(context, device, 0, &rc);
    cl_mem m = buffer(CL_MEM_READ_WRITE, 4096 * 4, NULL);
    int got[4096];

    for (int i = 0; i < 4096; i++)
        OK(CL->clEnqueueFillBuffer(q, m, &i, 4, 4 * (size_t)i, 4, 0, NULL,
                                   NULL));
    OK(CL->clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof got, got, 0, NULL,
                               NULL));
    for (int i = 0; i < 4096; i++)
        ck_assert_int_eq(got[i], i);
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseCommandQueue(q));
}
END_TEST

/* What waits for a command that failed fails, and the queue goes on. */
START_TEST(failures_are_passed_on)
{
    cl_event gate = CL->clCreateUserEvent(context, &rc), e;
    cl_mem m = buffer(CL_MEM_READ_WRITE, 8, NULL);
    const int one = 1;
    cl_int status;

    OK(CL->clSetUserEventStatus(gate, -5));
    OK(CL->clEnqueueFillBuffer(queue, m, &one, 4, 0, 4, 1, &gate, &e));
    FAILS(CL->clWaitForEvents(1, &e),
          CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(CL->clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                          &status, NULL));
    ck_assert_int_eq(status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(CL->clEnqueueFillBuffer(queue, m, &one, 4, 0, 4, 0, NULL, NULL));
    OK(CL->clFinish(queue));
    OK(CL->clReleaseEvent(gate));
    OK(CL->clReleaseEvent(e));
    OK(CL->clReleaseMemObject(m));
}
END_TEST

/* Barriers and markers, out of order: what is behind a barrier comes later. */
START_TEST(barriers)
{
    cl_command_queue q = CL->clCreateCommandQueue(
        context, device,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
        &rc);
    cl_event gate = CL->clCreateUserEvent(context, &rc), first, marker, behind;
    cl_mem m = buffer(CL_MEM_READ_WRITE, 8, NULL);
    const int one = 1;
    cl_ulong ended, started;

    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 0, 4, 1, &gate, &first));
    OK(CL->clEnqueueMarkerWithWaitList(q, 0, NULL, &marker));
    OK(CL->clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
    OK(CL->clEnqueueFillBuffer(q, m, &one, 4, 4, 4, 0, NULL, &behind));
    OK(CL->clSetUserEventStatus(gate, CL_COMPLETE));
    OK(CL->clWaitForEvents(1, &behind));
    OK(CL->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_END,
                                   sizeof ended, &ended, NULL));
    OK(CL->clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_START,
                                   sizeof started, &started, NULL));
    ck_assert_uint_lt(ended, started);
    OK(CL->clGetEventProfilingInfo(behind, CL_PROFILING_COMMAND_START,
                                   sizeof started, &started, NULL));
    ck_assert_uint_lt(ended, started);
    OK(CL->clReleaseEvent(gate));
    OK(CL->clReleaseEvent(first));
    OK(CL->clReleaseEvent(marker));
    OK(CL->clReleaseEvent(behind));
    OK(CL->clReleaseMemObject(m));
    OK(CL->clReleaseCommandQueue(q));
}
END_TEST

/* The device's own time: the same for the same commands, none backwards. */
START_TEST(times)
{
    cl_program p = built("__kernel void k(__global float *o)\n"
                         "{ o[get_global_id(0)] += 1; }\n",
                         NULL);
    cl_kernel k = kernel(p, "k");
    cl_mem m = buffer(CL_MEM_READ_WRITE, 4096, NULL);
    const size_t n = 1024;
    cl_ulong t[2][4];
    cl_event e;

    set(k, 0, sizeof m, &m);
    for (int i = 0; i < 2; i++) {
        OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, NULL, 0, NULL,
                                      &e));
        OK(CL->clWaitForEvents(1, &e));
        for (cl_uint j = 0; j < 4; j++)
            OK(CL->clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_QUEUED + j,
                                           sizeof t[i][j], &t[i][j], NULL));
        ck_assert(t[i][0] && t[i][0] <= t[i][1] && t[i][1] <= t[i][2] &&
                  t[i][2] < t[i][3]);
        OK(CL->clReleaseEvent(e));
    }
    ck_assert_uint_eq(t[0][3] - t[0][2], t[1][3] - t[1][2]);
    ck_assert_uint_le(t[0][3], t[1][2]);
}
END_TEST

static void bad_build(const char *text)
{
    cl_program p = CL->clCreateProgramWithSource(context, 1, &text, NULL, &rc);

    OK(rc);
    FAILS(CL->clBuildProgram(p, 1, &device, "", NULL, NULL),
          CL_BUILD_PROGRAM_FAILURE);
    OK(CL->clReleaseProgram(p));
}

/* Queries of cl_vpusim.h: what the cycles are says every one of them. */
START_TEST(figures)
{
    cl_program p = built("__kernel void k(__global const float *a,\n"
                         "                __global float *o)\n"
                         "{ int i = get_global_id(0); o[i] = a[i] + 1; }\n"
                         "__kernel void s(__global float4 *o) { o[0] = 1; }\n",
                         NULL);
    cl_kernel k = kernel(p, "k"), s = kernel(p, "s");
    cl_command_queue plain = CL->clCreateCommandQueue(context, device, 0, &rc);
    cl_mem a = buffer(CL_MEM_READ_WRITE, 4096, NULL),
           o = buffer(CL_MEM_READ_WRITE, 4096, NULL);
    const size_t n = 1024, local = 64;
    cl_ulong cycles, causes[32], bytes, sum = 0, span[2];
    cl_uint shaves, factor, pair[2], cmx;
    size_t size;
    char text[512];
    cl_event e;

#define ASK(what, to) \
    OK(CL->clGetEventProfilingInfo(e, what, sizeof to, &to, NULL))
    set(k, 0, sizeof a, &a);
    set(k, 1, sizeof o, &o);
    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, &local, 0, NULL, &e));
    OK(CL->clFinish(queue));
    ASK(CL_PROFILING_COMMAND_CYCLES_VPUSIM, cycles);
    ASK(CL_PROFILING_COMMAND_SHAVES_VPUSIM, shaves);
    ASK(CL_PROFILING_COMMAND_VECTOR_FACTOR_VPUSIM, factor);
    ASK(CL_PROFILING_COMMAND_CMX_BYTES_VPUSIM, cmx);
    OK(CL->clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_SHAVE_CYCLES_VPUSIM,
                                   sizeof causes, causes, &size));
    for (size_t i = 0; i < size / sizeof *causes; i++)
        sum += causes[i];
    ck_assert_uint_eq(sum, cycles * shaves);
    ck_assert_uint_eq(shaves, 16);
    ck_assert_uint_eq(cmx, 0);
    ASK(CL_PROFILING_COMMAND_LOAD_BYTES_VPUSIM, bytes);
    ck_assert_uint_eq(bytes, 4096);
    ASK(CL_PROFILING_COMMAND_STORE_BYTES_VPUSIM, bytes);
    ck_assert_uint_eq(bytes, 4096);
    ASK(CL_PROFILING_COMMAND_DMA_BYTES_VPUSIM, bytes);
    ck_assert_uint_eq(bytes, 0);
    ASK(CL_PROFILING_COMMAND_DDR_BYTES_VPUSIM, bytes);
    ck_assert_uint_ge(bytes, 8192);
    ASK(CL_PROFILING_COMMAND_START, span[0]);
    ASK(CL_PROFILING_COMMAND_END, span[1]);
    ck_assert_uint_eq(span[1] - span[0], cycles * 1000 / 700 + 1);
    OK(CL->clReleaseEvent(e));

    OK(CL->clGetDeviceInfo(device, CL_DEVICE_CYCLE_CAUSES_VPUSIM, sizeof text,
                           text, NULL));
    ck_assert_msg(!strncmp(text, "issue;", 6) && strstr(text, ";DDR stall;"),
                  "%s", text);
    OK(CL->clGetKernelWorkGroupInfo(k, device, CL_KERNEL_VECTOR_FACTORS_VPUSIM,
                                    sizeof pair, pair, NULL));
    ck_assert_uint_eq(pair[0], 1);
    ck_assert_uint_eq(pair[1], factor);
    for (cl_uint what = CL_KERNEL_BUNDLES_VPUSIM;
         what <= CL_KERNEL_SPILLS_VPUSIM; what++) {
        OK(CL->clGetKernelWorkGroupInfo(k, device, what, sizeof pair, pair,
                                        NULL));
        ck_assert_msg((pair[0] > 0) == (what < CL_KERNEL_V_REGISTERS_VPUSIM) ||
                          what == CL_KERNEL_V_REGISTERS_VPUSIM,
                      "%x: %u", what, pair[0]);
    }
    OK(CL->clGetKernelWorkGroupInfo(s, device, CL_KERNEL_NOT_VECTORIZED_VPUSIM,
                                    sizeof text, text, NULL));
    ck_assert_msg(strstr(text, "vector"), "%s", text);
    OK(CL->clGetKernelWorkGroupInfo(s, device, CL_KERNEL_VECTOR_FACTORS_VPUSIM,
                                    sizeof pair, pair, NULL));
    ck_assert_uint_eq(pair[1], 0);

    OK(CL->clEnqueueReadBuffer(queue, o, CL_TRUE, 0, sizeof text, text, 0, NULL,
                               &e));
    FAILS(CL->clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_CYCLES_VPUSIM,
                                      sizeof cycles, &cycles, NULL),
          CL_PROFILING_INFO_NOT_AVAILABLE);
    OK(CL->clReleaseEvent(e));
    OK(CL->clEnqueueNDRangeKernel(plain, k, 1, NULL, &n, &local, 0, NULL, &e));
    OK(CL->clFinish(plain));
    FAILS(CL->clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_CYCLES_VPUSIM,
                                      sizeof cycles, &cycles, NULL),
          CL_PROFILING_INFO_NOT_AVAILABLE);
    OK(CL->clReleaseEvent(e));
    OK(CL->clReleaseCommandQueue(plain));
    OK(CL->clReleaseMemObject(a));
    OK(CL->clReleaseMemObject(o));
}
END_TEST

/* What signatures say, and that no macro of another extension is defined. */
START_TEST(signatures)
{
    cl_program p = built(
        "#if defined(cl_khr_int64_base_atomics) || defined(cl_khr_fp64) || \\\n"
        "    defined(cl_khr_3d_image_writes) || !defined(cl_khr_fp16) || \\\n"
        "    !defined(cl_vpusim_shave) || !defined(cl_vpusim_queries) || \\\n"
        "    defined(__IMAGE_SUPPORT__) || __OPENCL_VERSION__ != 120\n"
        "#error macros\n"
        "#endif\n"
        "__kernel __attribute__((reqd_work_group_size(8, 2, 1)))\n"
        "__attribute__((vec_type_hint(uint4)))\n"
        "void k(__global const float *restrict a, __global volatile int *b,\n"
        "       __constant float *c, float d, __global float *e)\n"
        "{ e[0] = a[0] + b[0] + c[0] + d; }\n"
        "__kernel __attribute__((work_group_size_hint(4, 1, 1)))\n"
        "void plain(__global float *e) { e[0] = 1; }\n",
        "-cl-kernel-arg-info");
    static const cl_kernel_arg_type_qualifier want[] = {
        CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT,
        CL_KERNEL_ARG_TYPE_VOLATILE, CL_KERNEL_ARG_TYPE_CONST,
        CL_KERNEL_ARG_TYPE_NONE, CL_KERNEL_ARG_TYPE_NONE};
    cl_kernel k = kernel(p, "k"), plain = kernel(p, "plain");
    char text[128];

    for (cl_uint i = 0; i < 5; i++) {
        cl_kernel_arg_type_qualifier got;

        OK(CL->clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER,
                                  sizeof got, &got, NULL));
        ck_assert_msg(got == want[i], "%u: %lx", i, (long)got);
    }
    OK(CL->clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    ck_assert_str_eq(text, "reqd_work_group_size(8,2,1) vec_type_hint(uint4)");
    OK(CL->clGetKernelInfo(plain, CL_KERNEL_ATTRIBUTES, sizeof text, text,
                           NULL));
    ck_assert_str_eq(text, "work_group_size_hint(4,1,1)");
    bad_build("__kernel void k(size_t n, __global int *o) { o[0] = n; }");
    bad_build("__kernel void k(bool n, __global int *o) { o[0] = n; }");
}
END_TEST

/* A kernel that leaves its memory: told, the event fails, the program lives. */
static char told[1024];

static void CL_CALLBACK listen(const char *text, const void *bytes, size_t n,
                               void *user)
{
    (void)bytes, (void)n, (void)user;
    snprintf(told, sizeof told, "%s", text);
}

START_TEST(faults)
{
    cl_context own = CL->clCreateContext(NULL, 1, &device, listen, NULL, &rc);
    cl_command_queue q = CL->clCreateCommandQueue(own, device, 0, &rc);
    const char *text = "__kernel void k(__global int *o)\n"
                       "{\n    o[get_global_id(0) + 100000] = 1;\n}\n";
    cl_program p = CL->clCreateProgramWithSource(own, 1, &text, NULL, &rc);
    cl_mem m = CL->clCreateBuffer(own, CL_MEM_READ_WRITE, 64, NULL, &rc);
    const size_t n = 16;
    cl_event e;
    cl_kernel k;
    cl_int status;
    int got;

    OK(CL->clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    k = kernel(p, "k");
    set(k, 0, sizeof m, &m);
    OK(CL->clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, 0, NULL, &e));
    FAILS(CL->clWaitForEvents(1, &e),
          CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(CL->clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                          &status, NULL));
    ck_assert_int_lt(status, 0);
    ck_assert_msg(strstr(told, "kernel 'k', work-group (0, 0, 0): write "
                               "outside mapped memory"),
                  "%s", told);
    OK(CL->clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, &got, 0, NULL, NULL));
    ck_assert_int_eq(got, 0);
}
END_TEST

static void CL_CALLBACK add(void *args)
{
    struct {
        int *p;
        int n;
    } *x = args;

    x->p[0] += x->n;
}

START_TEST(functions_of_the_host)
{
    struct {
        int *p;
        int n;
    } args = {NULL, 5};
    cl_mem m = buffer(CL_MEM_READ_WRITE, 4, NULL);
    const void *place = &args.p;
    const int seven = 7;
    int got;

    OK(CL->clEnqueueFillBuffer(queue, m, &seven, 4, 0, 4, 0, NULL, NULL));
    FAILS(CL->clEnqueueNativeKernel(queue, NULL, &args, sizeof args, 1, &m,
                                    &place, 0, NULL, NULL),
          CL_INVALID_VALUE);
    OK(CL->clEnqueueNativeKernel(queue, add, &args, sizeof args, 1, &m, &place,
                                 0, NULL, NULL));
    read_back(m, &got, 4);
    ck_assert_int_eq(got, 12);
    /* It keeps its buffer until it has run. */
    OK(CL->clEnqueueNativeKernel(queue, add, &args, sizeof args, 1, &m, &place,
                                 0, NULL, NULL));
    OK(CL->clReleaseMemObject(m));
    m = buffer(CL_MEM_COPY_HOST_PTR, 4, (void *)&seven);
    read_back(m, &got, 4);
    ck_assert_int_eq(got, 7);
    OK(CL->clReleaseMemObject(m));
}
END_TEST

/* Several threads with a queue each. */
static void *hammer(void *unused)
{
    cl_int e;
    cl_command_queue q = CL->clCreateCommandQueue(context, device, 0, &e);
    cl_mem m = CL->clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &e);

    for (int i = 0; i < 200; i++) {
        int got = -1;
        cl_event event;

        CL->clEnqueueFillBuffer(q, m, &i, 4, 0, 4096, 0, NULL, &event);
        CL->clEnqueueReadBuffer(q, m, CL_TRUE, 4 * (size_t)i, 4, &got, 1,
                                &event, NULL);
        CL->clReleaseEvent(event);
        if (got != i)
            return "a wrong value";
    }
    CL->clReleaseMemObject(m);
    CL->clReleaseCommandQueue(q);
    return unused;
}

START_TEST(threads)
{
    enum { N = 4 };
    pthread_t t[N];

    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, hammer, NULL), 0);
    for (int i = 0; i < N; i++) {
        void *why;

        pthread_join(t[i], &why);
        ck_assert_ptr_null(why);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("OpenCL driver");
    TCase *t = tcase_create("functions");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, device_queries);
    tcase_add_test(t, no_gaps);
    tcase_add_test(t, handles);
    tcase_add_test(t, buffers);
    tcase_add_test(t, boxes);
    tcase_add_test(t, fill_and_map);
    tcase_add_test(t, launches);
    tcase_add_test(t, bad_sizes);
    tcase_add_test(t, build_errors);
    tcase_add_test(t, compile_and_link);
    tcase_add_test(t, binaries);
    tcase_add_loop_test(t, user_events, 0, 2);
    tcase_add_test(t, without_waiting);
    tcase_add_test(t, many_commands);
    tcase_add_test(t, failures_are_passed_on);
    tcase_add_test(t, barriers);
    tcase_add_test(t, times);
    tcase_add_test(t, figures);
    tcase_add_test(t, signatures);
    tcase_add_test(t, faults);
    tcase_add_test(t, functions_of_the_host);
    tcase_add_test(t, threads);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
