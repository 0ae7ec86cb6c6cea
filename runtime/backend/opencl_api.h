/* The OpenCL library, loaded when first asked for: the program runs without. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_API_H
#define VPU_RUNTIME_BACKEND_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* What we call, without the "cl". */
#define OPENCL_FUNCTIONS(X)    \
    X(GetPlatformIDs)          \
    X(GetPlatformInfo)         \
    X(GetDeviceIDs)            \
    X(GetDeviceInfo)           \
    X(CreateContext)           \
    X(ReleaseContext)          \
    X(CreateCommandQueue)      \
    X(ReleaseCommandQueue)     \
    X(CreateBuffer)            \
    X(ReleaseMemObject)        \
    X(CreateProgramWithSource) \
    X(BuildProgram)            \
    X(GetProgramBuildInfo)     \
    X(ReleaseProgram)          \
    X(CreateKernel)            \
    X(ReleaseKernel)           \
    X(SetKernelArg)            \
    X(GetKernelWorkGroupInfo)  \
    X(EnqueueFillBuffer)       \
    X(EnqueueCopyBuffer)       \
    X(EnqueueWriteBuffer)      \
    X(EnqueueReadBuffer)       \
    X(EnqueueNDRangeKernel)    \
    X(Flush)                   \
    X(Finish)                  \
    X(WaitForEvents)           \
    X(GetEventInfo)            \
    X(GetEventProfilingInfo)   \
    X(ReleaseEvent)

typedef struct {
#define X(f) __typeof__(cl##f) *f;
    OPENCL_FUNCTIONS(X)
#undef X
} opencl_api;

/* NULL: there is none, and *why says so and what to do. Thread safe. */
const opencl_api *opencl_load(const char **why);

/* "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" for strangers. Static, or of the
 * calling thread until its next call. */
const char *opencl_error(cl_int code);

#endif
