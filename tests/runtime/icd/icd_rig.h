/* What tests of the OpenCL driver share: its table of functions, a context with
 * a queue, and things made in them. */
#ifndef VPU_TESTS_RUNTIME_ICD_ICD_RIG_H
#define VPU_TESTS_RUNTIME_ICD_ICD_RIG_H

#include <check.h>

#include "runtime/icd/icd.h"

#define CL (&icd_dispatch)
#define OK(call) ck_assert_int_eq(call, CL_SUCCESS)
#define FAILS(call, code) ck_assert_int_eq(call, code)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_int rc;

static inline void setup(void)
{
    /* Linked in; no library to look for. */
    icd_device.core = &vpusim_icd_core;
    OK(CL->clGetPlatformIDs(1, &platform, NULL));
    OK(CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = CL->clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    OK(rc);
    queue = CL->clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE,
                                     &rc);
    OK(rc);
}

static inline void teardown(void)
{
    OK(CL->clReleaseCommandQueue(queue));
    OK(CL->clReleaseContext(context));
}

static inline cl_mem buffer(cl_mem_flags flags, size_t n, void *host)
{
    cl_mem m = CL->clCreateBuffer(context, flags, n, host, &rc);

    OK(rc);
    return m;
}

static inline cl_program source(const char *text)
{
    cl_program p = CL->clCreateProgramWithSource(context, 1, &text, NULL, &rc);

    OK(rc);
    return p;
}

static inline cl_program built(const char *text, const char *options)
{
    cl_program p = source(text);
    char log[4096] = "";

    rc = CL->clBuildProgram(p, 1, &device, options, NULL, NULL);
    CL->clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                              NULL);
    ck_assert_msg(!rc, "%d: %s", rc, log);
    return p;
}

static inline cl_kernel kernel(cl_program p, const char *name)
{
    cl_kernel k = CL->clCreateKernel(p, name, &rc);

    OK(rc);
    return k;
}

static inline void set(cl_kernel k, cl_uint i, size_t n, const void *value)
{
    OK(CL->clSetKernelArg(k, i, n, value));
}

#endif
