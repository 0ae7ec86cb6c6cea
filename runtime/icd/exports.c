/* The three functions that loaders look up: of the driver's library alone,
 * since a program that has them is taken for a loader. */
#include "runtime/icd/icd.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern __typeof__(clGetExtensionFunctionAddress)
    clGetExtensionFunctionAddress;
EXPORTED extern __typeof__(clGetPlatformInfo) clGetPlatformInfo;
EXPORTED extern __typeof__(clGetPlatformIDs) clIcdGetPlatformIDsKHR;

void *clGetExtensionFunctionAddress(const char *name)
{
    return icd_clGetExtensionFunctionAddress(name);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                         size_t room, void *to, size_t *size)
{
    return icd_clGetPlatformInfo(platform, what, room, to, size);
}

cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *list, cl_uint *count)
{
    return icd_clGetPlatformIDs(n, list, count);
}
