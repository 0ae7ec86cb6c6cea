/* Loads the ICD loader. */
#include "runtime/backend/opencl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static opencl_api api;
static const char *missing;

static void load(void)
{
    void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *f;

    if (!lib) {
        missing = "no OpenCL library (libOpenCL.so.1) on this machine: install "
                  "an ICD loader and a driver, for a CPU with apt-get install "
                  "ocl-icd-libopencl1 pocl-opencl-icd";
        return;
    }
    /* Through memcpy: ISO C has no conversion from void * to a function. */
#define X(name)                                                          \
    f = dlsym(lib, "cl" #name);                                          \
    memcpy(&api.name, &f, sizeof f);                                     \
    if (!f)                                                              \
        missing = "libOpenCL.so.1 has no cl" #name ": it is older than " \
                  "OpenCL 1.2; install ocl-icd-libopencl1";
    OPENCL_FUNCTIONS(X)
#undef X
}

#ifdef __SANITIZE_ADDRESS__
/* The leak sanitizer asks, at the end. It stops all threads to read their
 * memory; a driver's own, which come and go as they like, make it crash.
 * Visible, or the sanitizer's library does not find it. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return api.CreateContext != NULL;
}
#endif

const opencl_api *opencl_load(const char **why)
{
    pthread_once(&once, load);
    *why = missing;
    return missing ? NULL : &api;
}

const char *opencl_error(cl_int code)
{
    static _Thread_local char other[40];

    switch (code) {
#define X(name) \
    case name:  \
        return #name;
        X(CL_DEVICE_NOT_FOUND)
        X(CL_DEVICE_NOT_AVAILABLE)
        X(CL_COMPILER_NOT_AVAILABLE)
        X(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        X(CL_OUT_OF_RESOURCES)
        X(CL_OUT_OF_HOST_MEMORY)
        X(CL_BUILD_PROGRAM_FAILURE)
        X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        X(CL_INVALID_VALUE)
        X(CL_INVALID_BUFFER_SIZE)
        X(CL_INVALID_BUILD_OPTIONS)
        X(CL_INVALID_KERNEL_NAME)
        X(CL_INVALID_ARG_INDEX)
        X(CL_INVALID_ARG_VALUE)
        X(CL_INVALID_ARG_SIZE)
        X(CL_INVALID_KERNEL_ARGS)
        X(CL_INVALID_WORK_GROUP_SIZE)
        X(CL_INVALID_WORK_ITEM_SIZE)
        X(CL_INVALID_GLOBAL_WORK_SIZE)
#undef X
    default:
        snprintf(other, sizeof other, "OpenCL error %d", (int)code);
        return other;
    }
}
