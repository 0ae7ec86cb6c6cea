/* The table that loaders call through, and what they look up by name. */
#include <string.h>

#include "runtime/icd/icd.h"

/* Members that a driver of 1.2 does not have are for programs that call them
 * without a look at the version: none is NULL but those of other systems. */
static cl_int later(void)
{
    return CL_INVALID_OPERATION;
}

static void *later_object(void)
{
    return NULL;
}

/* Through void (*)(void), as is allowed of functions. */
#define AS(name, function) \
    .name = (__typeof__(((cl_icd_dispatch *)0)->name))(void (*)(void))(function)
#define LATER(name) AS(name, later)
#define LATER_OBJECT(name) AS(name, later_object)

const cl_icd_dispatch icd_dispatch = {
#define FUNCTION(name) .name = icd_##name,
#include "runtime/icd/functions.def"
    LATER_OBJECT(clCreateFromGLBuffer),
    LATER_OBJECT(clCreateFromGLTexture),
    LATER_OBJECT(clCreateFromGLTexture2D),
    LATER_OBJECT(clCreateFromGLTexture3D),
    LATER_OBJECT(clCreateFromGLRenderbuffer),
    LATER(clGetGLObjectInfo),
    LATER(clGetGLTextureInfo),
    LATER(clEnqueueAcquireGLObjects),
    LATER(clEnqueueReleaseGLObjects),
    LATER(clGetGLContextInfoKHR),
    LATER_OBJECT(clCreateEventFromGLsyncKHR),
    LATER_OBJECT(clCreateFromEGLImageKHR),
    LATER(clEnqueueAcquireEGLObjectsKHR),
    LATER(clEnqueueReleaseEGLObjectsKHR),
    LATER_OBJECT(clCreateEventFromEGLSyncKHR),
    LATER(clCreateSubDevicesEXT),
    LATER(clRetainDeviceEXT),
    LATER(clReleaseDeviceEXT),
    LATER_OBJECT(clCreateCommandQueueWithProperties),
    LATER_OBJECT(clCreatePipe),
    LATER(clGetPipeInfo),
    LATER_OBJECT(clSVMAlloc),
    LATER(clSVMFree),
    LATER(clEnqueueSVMFree),
    LATER(clEnqueueSVMMemcpy),
    LATER(clEnqueueSVMMemFill),
    LATER(clEnqueueSVMMap),
    LATER(clEnqueueSVMUnmap),
    LATER_OBJECT(clCreateSamplerWithProperties),
    LATER(clSetKernelArgSVMPointer),
    LATER(clSetKernelExecInfo),
    LATER(clGetKernelSubGroupInfoKHR),
    LATER_OBJECT(clCloneKernel),
    LATER_OBJECT(clCreateProgramWithIL),
    LATER(clEnqueueSVMMigrateMem),
    LATER(clGetDeviceAndHostTimer),
    LATER(clGetHostTimer),
    LATER(clGetKernelSubGroupInfo),
    LATER(clSetDefaultDeviceCommandQueue),
    LATER(clSetProgramReleaseCallback),
    LATER(clSetProgramSpecializationConstant),
    LATER_OBJECT(clCreateBufferWithProperties),
    LATER_OBJECT(clCreateImageWithProperties),
    LATER(clSetContextDestructorCallback),
};

void *icd_clGetExtensionFunctionAddress(const char *name)
{
    static const struct {
        const char *name;
        uintptr_t at;
    } functions[] = {
        {"clIcdGetPlatformIDsKHR", (uintptr_t)icd_clGetPlatformIDs},
#define FUNCTION(name) {#name, (uintptr_t)icd_##name},
#include "runtime/icd/functions.def"
    };

    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            return (void *)functions[i].at;
    return NULL;
}

void *icd_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                   const char *name)
{
    return icd_is(platform, ICD_PLATFORM)
               ? icd_clGetExtensionFunctionAddress(name)
               : NULL;
}
