/* Each error that OpenCL 1.2 documents for platforms, contexts, memory,
 * programs and kernels, one at a time. Queues and events are
 * errors_queue_test's.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/icd/errors.h"

/* --- platform, device ----------------------------------------------------- */

START_TEST(platforms)
{
    cl_platform_id p = UNSET_HANDLE;
    cl_uint n = UNSET;
    char text[64];

    ROW(CL_INVALID_VALUE, CL->clGetPlatformIDs(0, NULL, NULL));
    ROW(CL_INVALID_VALUE, CL->clGetPlatformIDs(1, NULL, NULL));
    ROW(CL_INVALID_VALUE, CL->clGetPlatformIDs(0, &p, NULL));
    ROW(CL_INVALID_VALUE, CL->clGetPlatformIDs(0, &p, &n));
    HOLDS(p == UNSET_HANDLE && n == UNSET);
    ROW(CL_SUCCESS, CL->clGetPlatformIDs(0, NULL, &n));
    HOLDS(n == 1);

    /* NULL is the driver's own platform. */
    BAD_BUT_NULL(
        ICD_PLATFORM, CL_INVALID_PLATFORM,
        CL->clGetPlatformInfo(h, CL_PLATFORM_NAME, sizeof text, text, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clGetPlatformInfo(platform, 0x4321, sizeof text, text, NULL));
    ROW(CL_INVALID_VALUE, CL->clGetPlatformInfo(platform, CL_DEVICE_NAME,
                                                sizeof text, text, NULL));
    ASK(sizeof "FULL_PROFILE", clGetPlatformInfo, platform,
        CL_PLATFORM_PROFILE);
    ASK(sizeof "vpusim", clGetPlatformInfo, platform, CL_PLATFORM_NAME);
    ASK(sizeof "vpusim", clGetPlatformInfo, platform, CL_PLATFORM_VENDOR);
    ASK(sizeof "OpenCL 1.2 vpusim " VPU_VERSION, clGetPlatformInfo, platform,
        CL_PLATFORM_VERSION);
    ASK(sizeof "cl_khr_icd", clGetPlatformInfo, platform,
        CL_PLATFORM_EXTENSIONS);
    ASK(sizeof "VPUSIM", clGetPlatformInfo, platform,
        CL_PLATFORM_ICD_SUFFIX_KHR);

    BAD(ICD_PLATFORM, CL_INVALID_PLATFORM, CL->clUnloadPlatformCompiler(h));
    ROW(CL_SUCCESS, CL->clUnloadPlatformCompiler(platform));
    ROW(CL_SUCCESS, CL->clUnloadCompiler());
    EACH_FROM(
        0, ICD_PLATFORM,
        HOLDS(!CL->clGetExtensionFunctionAddressForPlatform(h, "clFinish")));
    HOLDS(!CL->clGetExtensionFunctionAddressForPlatform(platform, "clNix"));
    HOLDS(!CL->clGetExtensionFunctionAddressForPlatform(platform, NULL));
    HOLDS(CL->clGetExtensionFunctionAddressForPlatform(platform, "clFinish"));
    HOLDS(!CL->clGetExtensionFunctionAddress("clNix"));
    HOLDS(!CL->clGetExtensionFunctionAddress(NULL));
}
END_TEST

START_TEST(devices)
{
    const cl_device_partition_property
        equally[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0},
        counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
                    CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0},
        what[] = {0x4321, 1, 0};
    cl_device_id d = UNSET_HANDLE;
    cl_uint n = UNSET;

    BAD_BUT_NULL(ICD_PLATFORM, CL_INVALID_PLATFORM,
                 CL->clGetDeviceIDs(h, CL_DEVICE_TYPE_ALL, 1, &d, &n));
    ROW(CL_INVALID_DEVICE_TYPE, CL->clGetDeviceIDs(platform, 0, 1, &d, &n));
    ROW(CL_INVALID_DEVICE_TYPE,
        CL->clGetDeviceIDs(platform, 1 << 5, 1, &d, &n));
    ROW(CL_INVALID_DEVICE_TYPE,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR | 1 << 9, 1, &d,
                           &n));
    ROW(CL_INVALID_VALUE,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &d, &n));
    ROW(CL_INVALID_VALUE,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, NULL, NULL));
    ROW(CL_DEVICE_NOT_FOUND,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &d, &n));
    ROW(CL_DEVICE_NOT_FOUND,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &d, &n));
    ROW(CL_DEVICE_NOT_FOUND,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &d, &n));
    HOLDS(d == UNSET_HANDLE && n == UNSET);
    ROW(CL_SUCCESS,
        CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n));
    HOLDS(n == 1);

    ASK_WRONG(ICD_DEVICE, CL_INVALID_DEVICE, clGetDeviceInfo, device,
              CL_DEVICE_NAME);
    ASK(sizeof(cl_device_type), clGetDeviceInfo, device, CL_DEVICE_TYPE);
    ASK(3 * sizeof(size_t), clGetDeviceInfo, device,
        CL_DEVICE_MAX_WORK_ITEM_SIZES);
    ASK(sizeof(cl_device_id), clGetDeviceInfo, device, CL_DEVICE_PARENT_DEVICE);
    ASK(1, clGetDeviceInfo, device, CL_DEVICE_BUILT_IN_KERNELS);

    BAD(ICD_DEVICE, CL_INVALID_DEVICE,
        CL->clCreateSubDevices(h, equally, 1, &d, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateSubDevices(device, equally, 1, &d, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateSubDevices(device, counts, 2, &d, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateSubDevices(device, what, 1, &d, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateSubDevices(device, NULL, 1, &d, &n));
    HOLDS(d == UNSET_HANDLE && n == 1);
    BAD(ICD_DEVICE, CL_INVALID_DEVICE, CL->clRetainDevice(h));
    BAD(ICD_DEVICE, CL_INVALID_DEVICE, CL->clReleaseDevice(h));
    ROW(CL_SUCCESS, CL->clRetainDevice(device));
    ROW(CL_SUCCESS, CL->clReleaseDevice(device));
}
END_TEST

/* --- contexts ------------------------------------------------------------- */

static void CL_CALLBACK quiet(const char *text, const void *bytes, size_t n,
                              void *user)
{
    (void)text, (void)bytes, (void)n, (void)user;
}

START_TEST(contexts)
{
    const cl_context_properties on = (cl_context_properties)platform;
    const struct {
        cl_int want;
        cl_context_properties list[5];
    } properties[] = {
        {CL_INVALID_PROPERTY, {0x4321, 1}},
        {CL_INVALID_PROPERTY, {CL_CONTEXT_PLATFORM, on, 0x4321, 1}},
        {CL_INVALID_PROPERTY,
         {CL_CONTEXT_PLATFORM, on, CL_CONTEXT_PLATFORM, on}},
        {CL_INVALID_PROPERTY,
         {CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, CL_CONTEXT_INTEROP_USER_SYNC,
          CL_TRUE}},
        {CL_INVALID_PROPERTY, {CL_CONTEXT_INTEROP_USER_SYNC, 2}},
    };
    const cl_device_id two[] = {device, NULL};
    cl_context c;

    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        MADE(properties[i].want, clCreateContext, properties[i].list, 1,
             &device, NULL, NULL);
        MADE(properties[i].want, clCreateContextFromType, properties[i].list,
             CL_DEVICE_TYPE_ALL, NULL, NULL);
    }
    EACH_FROM(0, ICD_PLATFORM,
              const cl_context_properties list[] = {CL_CONTEXT_PLATFORM,
                                                    (cl_context_properties)h,
                                                    0};
              MADE(CL_INVALID_PLATFORM, clCreateContext, list, 1, &device, NULL,
                   NULL);
              MADE(CL_INVALID_PLATFORM, clCreateContextFromType, list,
                   CL_DEVICE_TYPE_ALL, NULL, NULL));
    MADE(CL_INVALID_VALUE, clCreateContext, NULL, 1, NULL, NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateContext, NULL, 0, &device, NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateContext, NULL, 0, NULL, NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateContext, NULL, 1, &device, NULL, wrong);
    BAD_MADE(ICD_DEVICE, CL_INVALID_DEVICE, clCreateContext, NULL, 1,
             (cl_device_id *)&h, NULL, NULL);
    MADE(CL_INVALID_DEVICE, clCreateContext, NULL, 2, two, NULL, NULL);

    MADE(CL_INVALID_DEVICE_TYPE, clCreateContextFromType, NULL, 0, NULL, NULL);
    MADE(CL_INVALID_DEVICE_TYPE, clCreateContextFromType, NULL, 1 << 6, NULL,
         NULL);
    MADE(CL_DEVICE_NOT_FOUND, clCreateContextFromType, NULL, CL_DEVICE_TYPE_GPU,
         NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateContextFromType, NULL, CL_DEVICE_TYPE_ALL,
         NULL, wrong);

    BAD(ICD_CONTEXT, CL_INVALID_CONTEXT, CL->clRetainContext(h));
    BAD(ICD_CONTEXT, CL_INVALID_CONTEXT, CL->clReleaseContext(h));
    ASK_WRONG(ICD_CONTEXT, CL_INVALID_CONTEXT, clGetContextInfo, context,
              CL_CONTEXT_NUM_DEVICES);
    ASK(sizeof(cl_uint), clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT);
    ASK(sizeof(cl_uint), clGetContextInfo, context, CL_CONTEXT_NUM_DEVICES);
    ASK(sizeof(cl_device_id), clGetContextInfo, context, CL_CONTEXT_DEVICES);
    ASK(0, clGetContextInfo, context, CL_CONTEXT_PROPERTIES);
    c = CL->clCreateContext(
        (cl_context_properties[]){CL_CONTEXT_PLATFORM, on, 0}, 1, &device,
        quiet, wrong, &rc);
    ROW(CL_SUCCESS, rc);
    ASK(3 * sizeof(cl_context_properties), clGetContextInfo, c,
        CL_CONTEXT_PROPERTIES);
    ROW(CL_SUCCESS, CL->clReleaseContext(c));
    ROW(CL_INVALID_CONTEXT, CL->clReleaseContext(c));
}
END_TEST

/* Where VPU_CL is wrong there are a platform and a device, and no context. */
START_TEST(not_available)
{
    setenv("VPU_CL", "--nix", 1);
    OK(CL->clGetPlatformIDs(1, &platform, NULL));
    OK(CL->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    MADE(CL_DEVICE_NOT_AVAILABLE, clCreateContext, NULL, 1, &device, NULL,
         NULL);
    MADE(CL_DEVICE_NOT_AVAILABLE, clCreateContextFromType, NULL,
         CL_DEVICE_TYPE_ALL, NULL, NULL);
    ck_assert_msg(!*wrong, "%s", wrong);
}
END_TEST

/* --- memory --------------------------------------------------------------- */

START_TEST(buffers)
{
    static const cl_mem_flags flags[] = {
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
        1 << 6,
        (cl_mem_flags)1 << 40};
    char host[64] = {0};
    cl_ulong most;

    OK(CL->clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most,
                           &most, NULL));
    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateBuffer, h, 0, 64, NULL);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        MADE(CL_INVALID_VALUE, clCreateBuffer, context, flags[i], 64, NULL);
    MADE(CL_INVALID_VALUE, clCreateBuffer, context,
         CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, host);
    MADE(CL_INVALID_VALUE, clCreateBuffer, context,
         CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host);
    MADE(CL_INVALID_BUFFER_SIZE, clCreateBuffer, context, 0, 0, NULL);
    MADE(CL_INVALID_BUFFER_SIZE, clCreateBuffer, context, 0, most + 1, NULL);
    MADE(CL_INVALID_BUFFER_SIZE, clCreateBuffer, context, 0, SIZE_MAX, NULL);
    MADE(CL_INVALID_HOST_PTR, clCreateBuffer, context, CL_MEM_USE_HOST_PTR, 64,
         NULL);
    MADE(CL_INVALID_HOST_PTR, clCreateBuffer, context, CL_MEM_COPY_HOST_PTR, 64,
         NULL);
    MADE(CL_INVALID_HOST_PTR, clCreateBuffer, context, 0, 64, host);
    MADE(CL_INVALID_HOST_PTR, clCreateBuffer, context, CL_MEM_ALLOC_HOST_PTR,
         64, host);
}
END_TEST

/* Four of the largest buffers are all of the memory. */
START_TEST(much_memory)
{
    cl_context c = CL->clCreateContext(NULL, 1, &device, quiet, NULL, &rc);
    cl_mem all[4] = {NULL};
    cl_ulong most;

    OK(CL->clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most,
                           &most, NULL));
    for (int i = 0; i < 3; i++) {
        all[i] = CL->clCreateBuffer(c, 0, most, NULL, &rc);
        ROW(CL_SUCCESS, rc);
    }
    MADE(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreateBuffer, c, 0, most, NULL);
    all[3] = CL->clCreateBuffer(c, 0, most / 2, NULL, &rc);
    ROW(CL_SUCCESS, rc);
    for (int i = 0; i < 4; i++)
        ROW(CL_SUCCESS, CL->clReleaseMemObject(all[i]));
    ROW(CL_SUCCESS, CL->clReleaseContext(c));
}
END_TEST

START_TEST(parts)
{
    static const struct {
        cl_mem_flags parent, part;
    } flags[] = {{CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE},
                 {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
                 {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE},
                 {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
                 {0, CL_MEM_USE_HOST_PTR},
                 {0, CL_MEM_ALLOC_HOST_PTR},
                 {0, CL_MEM_COPY_HOST_PTR},
                 {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
                 {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
                 {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},
                 {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY},
                 {0, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY},
                 {0, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS},
                 {0, 1 << 6}};
    static const struct {
        cl_int want;
        cl_buffer_region r;
    } regions[] = {
        {CL_INVALID_BUFFER_SIZE, {0, 0}},
        {CL_INVALID_BUFFER_SIZE, {128, 0}},
        {CL_INVALID_VALUE, {0, 1025}},
        {CL_INVALID_VALUE, {512, 513}},
        {CL_INVALID_VALUE, {2048, 1}},
        {CL_INVALID_VALUE, {128, SIZE_MAX}},
        {CL_INVALID_VALUE, {(size_t)-128, 256}},
        {CL_MISALIGNED_SUB_BUFFER_OFFSET, {4, 64}},
        {CL_MISALIGNED_SUB_BUFFER_OFFSET, {64, 64}},
    };
    const cl_buffer_region r = {128, 64};
    cl_mem part;

    BAD_MADE(ICD_MEMORY, CL_INVALID_MEM_OBJECT, clCreateSubBuffer, h, 0,
             CL_BUFFER_CREATE_TYPE_REGION, &r);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        cl_mem m = buffer(flags[i].parent, 1024, NULL);

        MADE(CL_INVALID_VALUE, clCreateSubBuffer, m, flags[i].part,
             CL_BUFFER_CREATE_TYPE_REGION, &r);
        ROW(CL_SUCCESS, CL->clReleaseMemObject(m));
    }
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        MADE(regions[i].want, clCreateSubBuffer, mem, 0,
             CL_BUFFER_CREATE_TYPE_REGION, &regions[i].r);
    MADE(CL_INVALID_VALUE, clCreateSubBuffer, mem, 0, 0x4321, &r);
    MADE(CL_INVALID_VALUE, clCreateSubBuffer, mem, 0,
         CL_BUFFER_CREATE_TYPE_REGION, NULL);
    part = CL->clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &rc);
    ROW(CL_SUCCESS, rc);
    MADE(CL_INVALID_MEM_OBJECT, clCreateSubBuffer, part, 0,
         CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, 64});
    ROW(CL_SUCCESS, CL->clReleaseMemObject(part));
}
END_TEST

static void CL_CALLBACK on_end(cl_mem m, void *user)
{
    (void)m, (void)user;
}

START_TEST(memory_objects)
{
    BAD(ICD_MEMORY, CL_INVALID_MEM_OBJECT, CL->clRetainMemObject(h));
    BAD(ICD_MEMORY, CL_INVALID_MEM_OBJECT, CL->clReleaseMemObject(h));
    BAD(ICD_MEMORY, CL_INVALID_MEM_OBJECT,
        CL->clSetMemObjectDestructorCallback(h, on_end, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clSetMemObjectDestructorCallback(mem, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clSetMemObjectDestructorCallback(mem, NULL, wrong));
    ROW(CL_SUCCESS, CL->clSetMemObjectDestructorCallback(mem, on_end, NULL));
    ASK_WRONG(ICD_MEMORY, CL_INVALID_MEM_OBJECT, clGetMemObjectInfo, mem,
              CL_MEM_SIZE);
    ASK(sizeof(cl_mem_object_type), clGetMemObjectInfo, mem, CL_MEM_TYPE);
    ASK(sizeof(cl_mem_flags), clGetMemObjectInfo, mem, CL_MEM_FLAGS);
    ASK(sizeof(size_t), clGetMemObjectInfo, mem, CL_MEM_SIZE);
    ASK(sizeof(void *), clGetMemObjectInfo, mem, CL_MEM_HOST_PTR);
    ASK(sizeof(cl_uint), clGetMemObjectInfo, mem, CL_MEM_MAP_COUNT);
    ASK(sizeof(cl_uint), clGetMemObjectInfo, mem, CL_MEM_REFERENCE_COUNT);
    ASK(sizeof(cl_context), clGetMemObjectInfo, mem, CL_MEM_CONTEXT);
    ASK(sizeof(cl_mem), clGetMemObjectInfo, mem, CL_MEM_ASSOCIATED_MEMOBJECT);
    ASK(sizeof(size_t), clGetMemObjectInfo, mem, CL_MEM_OFFSET);
}
END_TEST

/* The device has none: what is valid otherwise is CL_INVALID_OPERATION. */
START_TEST(images)
{
    static const cl_mem_object_type types[] = {
        CL_MEM_OBJECT_IMAGE1D,       CL_MEM_OBJECT_IMAGE1D_BUFFER,
        CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
        CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                .image_width = 4,
                                .image_height = 4};
    cl_image_format list = {UNSET, UNSET};
    cl_uint n = UNSET;
    char room[64];
    size_t size = UNSET;

    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateImage, h, 0, &format,
             &desc, NULL);
    MADE(CL_INVALID_OPERATION, clCreateImage, context, 0, &format, &desc, NULL);
    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateImage2D, h, 0, &format, 4,
             4, 0, NULL);
    MADE(CL_INVALID_OPERATION, clCreateImage2D, context, 0, &format, 4, 4, 0,
         NULL);
    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateImage3D, h, 0, &format, 4,
             4, 4, 0, 0, NULL);
    MADE(CL_INVALID_OPERATION, clCreateImage3D, context, 0, &format, 4, 4, 4, 0,
         0, NULL);

    BAD(ICD_CONTEXT, CL_INVALID_CONTEXT,
        CL->clGetSupportedImageFormats(h, 0, CL_MEM_OBJECT_IMAGE2D, 1, &list,
                                       &n));
    ROW(CL_INVALID_VALUE, CL->clGetSupportedImageFormats(
                              context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                              CL_MEM_OBJECT_IMAGE2D, 1, &list, &n));
    ROW(CL_INVALID_VALUE,
        CL->clGetSupportedImageFormats(context, (cl_mem_flags)1 << 40,
                                       CL_MEM_OBJECT_IMAGE2D, 1, &list, &n));
    ROW(CL_INVALID_VALUE, CL->clGetSupportedImageFormats(
                              context, 0, CL_MEM_OBJECT_BUFFER, 1, &list, &n));
    ROW(CL_INVALID_VALUE,
        CL->clGetSupportedImageFormats(context, 0, 0x4321, 1, &list, &n));
    ROW(CL_INVALID_VALUE, CL->clGetSupportedImageFormats(
                              context, 0, CL_MEM_OBJECT_IMAGE2D, 0, &list, &n));
    HOLDS(n == UNSET);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        ROW(CL_SUCCESS, CL->clGetSupportedImageFormats(
                            context, CL_MEM_READ_ONLY, types[i], 1, &list, &n));
        HOLDS(!n);
        n = UNSET;
    }
    HOLDS(list.image_channel_order == UNSET);

    /* A buffer is no image. */
    BAD(ICD_MEMORY, CL_INVALID_MEM_OBJECT,
        CL->clGetImageInfo(h, CL_IMAGE_WIDTH, sizeof room, room, &size));
    ROW(CL_INVALID_MEM_OBJECT,
        CL->clGetImageInfo(mem, CL_IMAGE_WIDTH, sizeof room, room, &size));

    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateSampler, h, CL_FALSE,
             CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    MADE(CL_INVALID_OPERATION, clCreateSampler, context, CL_FALSE,
         CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    BAD(ICD_MEMORY, CL_INVALID_SAMPLER, CL->clRetainSampler(h));
    BAD(ICD_MEMORY, CL_INVALID_SAMPLER, CL->clReleaseSampler(h));
    BAD(ICD_MEMORY, CL_INVALID_SAMPLER,
        CL->clGetSamplerInfo(h, CL_SAMPLER_CONTEXT, sizeof room, room, &size));
    HOLDS(size == UNSET);
}
END_TEST

/* --- programs ------------------------------------------------------------- */

START_TEST(sources)
{
    const char *text[] = {scale_text, NULL};
    const size_t length = 5;
    cl_program p;

    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateProgramWithSource, h, 1,
             text, NULL);
    MADE(CL_INVALID_VALUE, clCreateProgramWithSource, context, 0, text, NULL);
    MADE(CL_INVALID_VALUE, clCreateProgramWithSource, context, 1, NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateProgramWithSource, context, 0, NULL, NULL);
    MADE(CL_INVALID_VALUE, clCreateProgramWithSource, context, 2, text, NULL);
    p = CL->clCreateProgramWithSource(context, 1, text, &length, &rc);
    ROW(CL_SUCCESS, rc);
    ASK(6, clGetProgramInfo, p, CL_PROGRAM_SOURCE);
    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM, CL->clRetainProgram(h));
    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM, CL->clReleaseProgram(h));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
    ROW(CL_INVALID_PROGRAM, CL->clReleaseProgram(p));

    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateProgramWithBuiltInKernels,
             h, 1, &device, "k");
    BAD_MADE(ICD_DEVICE, CL_INVALID_DEVICE, clCreateProgramWithBuiltInKernels,
             context, 1, (cl_device_id *)&h, "k");
    MADE(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels, context, 1, NULL,
         "k");
    MADE(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels, context, 0,
         &device, "k");
    MADE(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels, context, 1,
         &device, NULL);
    MADE(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels, context, 1,
         &device, "k");
}
END_TEST

START_TEST(binaries)
{
    unsigned char bytes[2048], *to = bytes;
    const unsigned char *in = bytes, *none = NULL;
    const size_t zero = 0;
    size_t n;
    cl_int status = UNSET;
    cl_program p;

    OK(CL->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof n, &n,
                            NULL));
    ck_assert_uint_le(n, sizeof bytes);
    OK(CL->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to,
                            NULL));
#define BINARY(want, ...) \
    MADE(want, clCreateProgramWithBinary, __VA_ARGS__, &status)
    EACH_FROM(0, ICD_CONTEXT,
              BINARY(CL_INVALID_CONTEXT, h, 1, &device, &n, &in));
    BINARY(CL_INVALID_VALUE, context, 0, &device, &n, &in);
    BINARY(CL_INVALID_VALUE, context, 1, NULL, &n, &in);
    BINARY(CL_INVALID_VALUE, context, 1, &device, NULL, &in);
    BINARY(CL_INVALID_VALUE, context, 1, &device, &n, NULL);
    EACH_FROM(
        0, ICD_DEVICE,
        BINARY(CL_INVALID_DEVICE, context, 1, (cl_device_id *)&h, &n, &in));
    HOLDS(status == UNSET);
    BINARY(CL_INVALID_VALUE, context, 1, &device, &zero, &in);
    ROW(CL_INVALID_VALUE, status);
    status = UNSET;
    BINARY(CL_INVALID_VALUE, context, 1, &device, &n, &none);
    ROW(CL_INVALID_VALUE, status);
    for (size_t cut = 1; cut <= n; cut += cut < 64 ? 7 : n - 64) {
        const size_t left = n - cut + (cut == n);

        status = UNSET;
        BINARY(CL_INVALID_BINARY, context, 1, &device, &left, &in);
        ROW(CL_INVALID_BINARY, status);
    }
    bytes[0] ^= 1;
    BINARY(CL_INVALID_BINARY, context, 1, &device, &n, &in);
    MADE(CL_INVALID_BINARY, clCreateProgramWithBinary, context, 1, &device, &n,
         &in, NULL);
    bytes[0] ^= 1;
    p = CL->clCreateProgramWithBinary(context, 1, &device, &n, &in, &status,
                                      &rc);
    ROW(CL_SUCCESS, rc);
    ROW(CL_SUCCESS, status);
    ROW(CL_INVALID_OPERATION,
        CL->clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
}
END_TEST

static unsigned n_told;

static void CL_CALLBACK on_built(cl_program p, void *user)
{
    (void)p, (void)user;
    n_told++;
}

START_TEST(builds)
{
    static const char *const options[] = {
        "-nix", "-cl-std=CL9.9", "-D", "-I", "-cl-mad-enable -what", "file.c"};
    cl_program p = source("__kernel void k(__global int *o) { o[0] = 1; }\n"),
               no_c = source("__kernel void k( { }\n");
    cl_kernel k;

#define BUILD(p, n, devices, options, notify, user) \
    CL->clBuildProgram(p, n, devices, options, notify, user)
    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM,
        BUILD(h, 1, &device, NULL, NULL, NULL));
    ROW(CL_INVALID_VALUE, BUILD(p, 1, NULL, NULL, NULL, NULL));
    ROW(CL_INVALID_VALUE, BUILD(p, 0, &device, NULL, NULL, NULL));
    ROW(CL_INVALID_VALUE, BUILD(p, 1, &device, NULL, NULL, wrong));
    BAD(ICD_DEVICE, CL_INVALID_DEVICE,
        BUILD(p, 1, (cl_device_id *)&h, NULL, NULL, NULL));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        ROW(CL_INVALID_BUILD_OPTIONS,
            BUILD(p, 1, &device, options[i], NULL, NULL));
        ROW(CL_INVALID_BUILD_OPTIONS,
            BUILD(p, 1, &device, options[i], on_built, wrong));
    }
    HOLDS(!n_told);
    ROW(CL_BUILD_PROGRAM_FAILURE, BUILD(no_c, 1, &device, NULL, NULL, NULL));
    ROW(CL_SUCCESS, BUILD(no_c, 1, &device, NULL, on_built, wrong));
    HOLDS(n_told == 1);
    ROW(CL_SUCCESS, BUILD(p, 0, NULL, NULL, NULL, NULL));
    k = kernel(p, "k");
    ROW(CL_INVALID_OPERATION, BUILD(p, 1, &device, NULL, NULL, NULL));
    ROW(CL_INVALID_OPERATION,
        CL->clCompileProgram(p, 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    ROW(CL_SUCCESS, CL->clReleaseKernel(k));
    ROW(CL_SUCCESS, BUILD(p, 1, &device, NULL, NULL, NULL));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
    ROW(CL_SUCCESS, CL->clReleaseProgram(no_c));
}
END_TEST

START_TEST(compilations)
{
    cl_program p = source("#include \"a.h\"\n"
                          "__kernel void k(__global int *o) { o[0] = A; }\n"),
               head = source("#define A 1\n");
    const char *name = "a.h", *no_name = NULL;

#define COMPILE(p, n, devices, options, ...) \
    CL->clCompileProgram(p, n, devices, options, __VA_ARGS__)
    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM,
        COMPILE(h, 1, &device, NULL, 1, &head, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, NULL, NULL, 1, &head, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 0, &device, NULL, 1, &head, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 0, &head, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 0, &head, NULL, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 0, NULL, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 1, NULL, &name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 1, &head, NULL, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 1, &head, &no_name, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        COMPILE(p, 1, &device, NULL, 1, &head, &name, NULL, wrong));
    BAD(ICD_DEVICE, CL_INVALID_DEVICE,
        COMPILE(p, 1, (cl_device_id *)&h, NULL, 1, &head, &name, NULL, NULL));
    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM,
        COMPILE(p, 1, &device, NULL, 1, (cl_program *)&h, &name, NULL, NULL));
    ROW(CL_INVALID_COMPILER_OPTIONS,
        COMPILE(p, 1, &device, "-nix", 1, &head, &name, NULL, NULL));
    ROW(CL_INVALID_COMPILER_OPTIONS,
        COMPILE(p, 1, &device, "-nix", 1, &head, &name, on_built, NULL));
    HOLDS(!n_told);
    ROW(CL_COMPILE_PROGRAM_FAILURE,
        COMPILE(p, 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    ROW(CL_SUCCESS, COMPILE(p, 1, &device, NULL, 1, &head, &name, NULL, NULL));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
    ROW(CL_SUCCESS, CL->clReleaseProgram(head));
}
END_TEST

START_TEST(links)
{
    static const char *const options[] = {"-nix", "-D A", "-cl-nix",
                                          "-enable-link-options"};
    cl_program p = source("int f(void);\n"
                          "__kernel void k(__global int *o) { o[0] = f(); }\n"),
               f = source("int f(void) { return 1; }\n"), whole, part,
               both[2] = {p, f};

    for (int i = 0; i < 2; i++)
        ROW(CL_SUCCESS,
            COMPILE(both[i], 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clLinkProgram, h, 1, &device,
             NULL, 2, both, NULL, NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 1, NULL, NULL, 2, both, NULL,
         NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 0, &device, NULL, 2, both,
         NULL, NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 1, &device, NULL, 0, NULL,
         NULL, NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 1, &device, NULL, 0, both,
         NULL, NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 1, &device, NULL, 2, NULL,
         NULL, NULL);
    MADE(CL_INVALID_VALUE, clLinkProgram, context, 1, &device, NULL, 2, both,
         NULL, wrong);
    BAD_MADE(ICD_DEVICE, CL_INVALID_DEVICE, clLinkProgram, context, 1,
             (cl_device_id *)&h, NULL, 2, both, NULL, NULL);
    BAD_MADE(ICD_PROGRAM, CL_INVALID_PROGRAM, clLinkProgram, context, 1,
             &device, NULL, 1, (cl_program *)&h, NULL, NULL);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        MADE(CL_INVALID_LINKER_OPTIONS, clLinkProgram, context, 1, &device,
             options[i], 2, both, NULL, NULL);
        MADE(CL_INVALID_LINKER_OPTIONS, clLinkProgram, context, 1, &device,
             options[i], 2, both, on_built, NULL);
    }
    HOLDS(!n_told);
    /* program is an executable, part will be source only. */
    MADE(CL_INVALID_OPERATION, clLinkProgram, context, 1, &device, NULL, 2,
         ((cl_program[]){p, program}), NULL, NULL);
    part = source("int g(void) { return 1; }\n");
    MADE(CL_INVALID_OPERATION, clLinkProgram, context, 1, &device, NULL, 2,
         ((cl_program[]){p, part}), NULL, NULL);
    ROW(CL_SUCCESS, CL->clReleaseProgram(part));
    /* The program comes back for its log. */
    part = CL->clLinkProgram(context, 1, &device, NULL, 1, &p, NULL, NULL, &rc);
    ROW(CL_LINK_PROGRAM_FAILURE, rc);
    ROW(CL_SUCCESS, CL->clReleaseProgram(part));
    whole = CL->clLinkProgram(context, 0, NULL, NULL, 2, both, NULL, NULL, &rc);
    ROW(CL_SUCCESS, rc);
    ROW(CL_INVALID_OPERATION,
        CL->clBuildProgram(whole, 1, &device, NULL, NULL, NULL));
    ROW(CL_INVALID_OPERATION,
        COMPILE(whole, 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    MADE(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel, p, "k");
    ROW(CL_SUCCESS, CL->clReleaseProgram(whole));
    for (int i = 0; i < 2; i++)
        ROW(CL_SUCCESS, CL->clReleaseProgram(both[i]));
}
END_TEST

START_TEST(program_queries)
{
    cl_program p = source("__kernel void k(__global int *o) { o[0] = 1; }\n");
    char room[64];
    size_t size = UNSET;

    ASK_WRONG(ICD_PROGRAM, CL_INVALID_PROGRAM, clGetProgramInfo, program,
              CL_PROGRAM_NUM_DEVICES);
    ROW(CL_INVALID_PROGRAM_EXECUTABLE,
        CL->clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof room, room,
                             &size));
    ROW(CL_INVALID_PROGRAM_EXECUTABLE,
        CL->clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof room, room,
                             &size));
    HOLDS(size == UNSET);
    ASK(sizeof(cl_uint), clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT);
    ASK(sizeof(cl_context), clGetProgramInfo, program, CL_PROGRAM_CONTEXT);
    ASK(sizeof(cl_uint), clGetProgramInfo, program, CL_PROGRAM_NUM_DEVICES);
    ASK(sizeof(cl_device_id), clGetProgramInfo, program, CL_PROGRAM_DEVICES);
    ASK(sizeof scale_text, clGetProgramInfo, program, CL_PROGRAM_SOURCE);
    ASK(sizeof(size_t), clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
    ASK(sizeof(size_t), clGetProgramInfo, program, CL_PROGRAM_NUM_KERNELS);
    ASK(sizeof "scale;four", clGetProgramInfo, program,
        CL_PROGRAM_KERNEL_NAMES);
    /* Of a program that is not built there are no bytes. */
    memset(room, 0, sizeof room);
    ROW(CL_INVALID_VALUE,
        CL->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(char *) - 1,
                             room, &size));
    HOLDS(size == UNSET);
    ROW(CL_SUCCESS, CL->clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(char *),
                                         room, &size));
    HOLDS(size == sizeof(char *));

    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM,
        CL->clGetProgramBuildInfo(h, device, CL_PROGRAM_BUILD_STATUS,
                                  sizeof room, room, &size));
    BAD(ICD_DEVICE, CL_INVALID_DEVICE,
        CL->clGetProgramBuildInfo(program, h, CL_PROGRAM_BUILD_STATUS,
                                  sizeof room, room, &size));
    ROW(CL_INVALID_VALUE, CL->clGetProgramBuildInfo(program, device, 0x4321,
                                                    sizeof room, room, &size));
    ASK(sizeof(cl_build_status), clGetProgramBuildInfo, program, device,
        CL_PROGRAM_BUILD_STATUS);
    ASK(sizeof "-cl-kernel-arg-info", clGetProgramBuildInfo, program, device,
        CL_PROGRAM_BUILD_OPTIONS);
    ASK(1, clGetProgramBuildInfo, p, device, CL_PROGRAM_BUILD_LOG);
    ASK(sizeof(cl_program_binary_type), clGetProgramBuildInfo, program, device,
        CL_PROGRAM_BINARY_TYPE);
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
}
END_TEST

/* --- kernels -------------------------------------------------------------- */

START_TEST(kernels)
{
    cl_program p = source("__kernel void k(__global int *o) { o[0] = 1; }\n"),
               no_c = source("__kernel void k( { }\n");
    cl_kernel list[3] = {UNSET_HANDLE, UNSET_HANDLE, UNSET_HANDLE};
    cl_uint n = UNSET;

    BAD_MADE(ICD_PROGRAM, CL_INVALID_PROGRAM, clCreateKernel, h, "scale");
    MADE(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel, p, "k");
    ROW(CL_INVALID_PROGRAM_EXECUTABLE,
        CL->clCreateKernelsInProgram(p, 3, list, &n));
    ROW(CL_BUILD_PROGRAM_FAILURE, BUILD(no_c, 1, &device, "", NULL, NULL));
    MADE(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel, no_c, "k");
    ROW(CL_INVALID_PROGRAM_EXECUTABLE,
        CL->clCreateKernelsInProgram(no_c, 3, list, &n));
    MADE(CL_INVALID_KERNEL_NAME, clCreateKernel, program, "nix");
    MADE(CL_INVALID_KERNEL_NAME, clCreateKernel, program, "");
    MADE(CL_INVALID_VALUE, clCreateKernel, program, NULL);

    BAD(ICD_PROGRAM, CL_INVALID_PROGRAM,
        CL->clCreateKernelsInProgram(h, 3, list, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateKernelsInProgram(program, 1, list, &n));
    ROW(CL_INVALID_VALUE, CL->clCreateKernelsInProgram(program, 0, list, &n));
    HOLDS(list[0] == UNSET_HANDLE && n == UNSET);
    ROW(CL_SUCCESS, CL->clCreateKernelsInProgram(program, 0, NULL, &n));
    HOLDS(n == 2);
    ROW(CL_SUCCESS, CL->clCreateKernelsInProgram(program, 3, list, NULL));
    HOLDS(list[2] == UNSET_HANDLE);

    BAD(ICD_KERNEL, CL_INVALID_KERNEL, CL->clRetainKernel(h));
    BAD(ICD_KERNEL, CL_INVALID_KERNEL, CL->clReleaseKernel(h));
    for (int i = 0; i < 2; i++)
        ROW(CL_SUCCESS, CL->clReleaseKernel(list[i]));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
    ROW(CL_SUCCESS, CL->clReleaseProgram(no_c));
}
END_TEST

START_TEST(arguments)
{
    const cl_float f[4] = {1, 2, 3, 4};
    const struct {
        cl_int want;
        cl_uint i;
        size_t bytes;
        const void *value;
    } rows[] = {
        {CL_INVALID_ARG_INDEX, 5, sizeof mem, &mem},
        {CL_INVALID_ARG_INDEX, UINT32_MAX, sizeof mem, &mem},
        /* __global */
        {CL_INVALID_ARG_SIZE, 0, 0, &mem},
        {CL_INVALID_ARG_SIZE, 0, 4, &mem},
        {CL_INVALID_ARG_SIZE, 0, 2 * sizeof mem, &mem},
        {CL_SUCCESS, 0, sizeof mem, NULL},
        /* float */
        {CL_INVALID_ARG_SIZE, 1, 0, f},
        {CL_INVALID_ARG_SIZE, 1, 2, f},
        {CL_INVALID_ARG_SIZE, 1, 8, f},
        {CL_INVALID_ARG_VALUE, 1, 4, NULL},
        /* __local */
        {CL_INVALID_ARG_SIZE, 2, 0, NULL},
        {CL_INVALID_ARG_VALUE, 2, 64, f},
        /* a structure */
        {CL_INVALID_ARG_SIZE, 3, 4, f},
        {CL_INVALID_ARG_SIZE, 3, 16, f},
        {CL_INVALID_ARG_VALUE, 3, 8, NULL},
        /* __constant */
        {CL_INVALID_ARG_SIZE, 4, 4, &mem},
        {CL_SUCCESS, 4, sizeof mem, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ROW(rows[i].want,
            CL->clSetKernelArg(scale, rows[i].i, rows[i].bytes, rows[i].value));
    BAD(ICD_KERNEL, CL_INVALID_KERNEL, CL->clSetKernelArg(h, 1, sizeof *f, f));
    BAD_BUT_NULL(ICD_MEMORY, CL_INVALID_MEM_OBJECT,
                 CL->clSetKernelArg(scale, 0, sizeof h, &h));
    BAD_BUT_NULL(ICD_MEMORY, CL_INVALID_MEM_OBJECT,
                 CL->clSetKernelArg(scale, 4, sizeof h, &h));
}
END_TEST

START_TEST(kernel_queries)
{
    cl_program p =
        built("__kernel void k(__global int *o) { o[0] = 1; }\n", NULL);
    cl_kernel k = kernel(p, "k");
    char room[64];
    size_t size = UNSET;

    ASK_WRONG(ICD_KERNEL, CL_INVALID_KERNEL, clGetKernelInfo, scale,
              CL_KERNEL_NUM_ARGS);
    ASK(sizeof "scale", clGetKernelInfo, scale, CL_KERNEL_FUNCTION_NAME);
    ASK(sizeof(cl_uint), clGetKernelInfo, scale, CL_KERNEL_NUM_ARGS);
    ASK(sizeof(cl_uint), clGetKernelInfo, scale, CL_KERNEL_REFERENCE_COUNT);
    ASK(sizeof(cl_context), clGetKernelInfo, scale, CL_KERNEL_CONTEXT);
    ASK(sizeof(cl_program), clGetKernelInfo, scale, CL_KERNEL_PROGRAM);
    ASK(1, clGetKernelInfo, scale, CL_KERNEL_ATTRIBUTES);

#define ARG_INFO(k, i, what) \
    CL->clGetKernelArgInfo(k, i, what, sizeof room, room, &size)
    BAD(ICD_KERNEL, CL_INVALID_KERNEL, ARG_INFO(h, 0, CL_KERNEL_ARG_NAME));
    ROW(CL_INVALID_ARG_INDEX, ARG_INFO(scale, 5, CL_KERNEL_ARG_NAME));
    ROW(CL_INVALID_VALUE, ARG_INFO(scale, 0, 0x4321));
    ROW(CL_INVALID_ARG_INDEX, ARG_INFO(k, 1, CL_KERNEL_ARG_NAME));
    for (cl_uint i = CL_KERNEL_ARG_ADDRESS_QUALIFIER; i <= CL_KERNEL_ARG_NAME;
         i++)
        ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ARG_INFO(k, 0, i));
    HOLDS(size == UNSET);
    ASK(sizeof(cl_kernel_arg_address_qualifier), clGetKernelArgInfo, scale, 0,
        CL_KERNEL_ARG_ADDRESS_QUALIFIER);
    ASK(sizeof(cl_kernel_arg_access_qualifier), clGetKernelArgInfo, scale, 0,
        CL_KERNEL_ARG_ACCESS_QUALIFIER);
    ASK(sizeof "float*", clGetKernelArgInfo, scale, 0, CL_KERNEL_ARG_TYPE_NAME);
    ASK(sizeof(cl_kernel_arg_type_qualifier), clGetKernelArgInfo, scale, 0,
        CL_KERNEL_ARG_TYPE_QUALIFIER);
    ASK(sizeof "o", clGetKernelArgInfo, scale, 0, CL_KERNEL_ARG_NAME);

#define GROUP_INFO(k, device, what) \
    CL->clGetKernelWorkGroupInfo(k, device, what, sizeof room, room, &size)
    BAD(ICD_KERNEL, CL_INVALID_KERNEL,
        GROUP_INFO(h, device, CL_KERNEL_WORK_GROUP_SIZE));
    BAD_BUT_NULL(ICD_DEVICE, CL_INVALID_DEVICE,
                 GROUP_INFO(scale, h, CL_KERNEL_WORK_GROUP_SIZE));
    ROW(CL_INVALID_VALUE, GROUP_INFO(scale, device, 0x4321));
    /* Of built-in kernels only. */
    ROW(CL_INVALID_VALUE,
        GROUP_INFO(scale, device, CL_KERNEL_GLOBAL_WORK_SIZE));
    HOLDS(size == UNSET);
    ROW(CL_SUCCESS, GROUP_INFO(scale, NULL, CL_KERNEL_WORK_GROUP_SIZE));
    ASK(sizeof(size_t), clGetKernelWorkGroupInfo, scale, device,
        CL_KERNEL_WORK_GROUP_SIZE);
    ASK(3 * sizeof(size_t), clGetKernelWorkGroupInfo, scale, device,
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
    ASK(sizeof(cl_ulong), clGetKernelWorkGroupInfo, scale, device,
        CL_KERNEL_LOCAL_MEM_SIZE);
    ASK(sizeof(size_t), clGetKernelWorkGroupInfo, scale, device,
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    ASK(sizeof(cl_ulong), clGetKernelWorkGroupInfo, scale, device,
        CL_KERNEL_PRIVATE_MEM_SIZE);
    ROW(CL_SUCCESS, CL->clReleaseKernel(k));
    ROW(CL_SUCCESS, CL->clReleaseProgram(p));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("errors of the OpenCL driver");
    TCase *t = tcase_create("functions"), *bare = tcase_create("alone");

    tcase_add_checked_fixture(t, setup_errors, teardown_errors);
    tcase_add_test(t, platforms);
    tcase_add_test(t, devices);
    tcase_add_test(t, contexts);
    tcase_add_test(t, buffers);
    tcase_add_test(t, much_memory);
    tcase_add_test(t, parts);
    tcase_add_test(t, memory_objects);
    tcase_add_test(t, images);
    tcase_add_test(t, sources);
    tcase_add_test(t, binaries);
    tcase_add_test(t, builds);
    tcase_add_test(t, compilations);
    tcase_add_test(t, links);
    tcase_add_test(t, program_queries);
    tcase_add_test(t, kernels);
    tcase_add_test(t, arguments);
    tcase_add_test(t, kernel_queries);
    suite_add_tcase(s, t);
    tcase_add_test(bare, not_available);
    suite_add_tcase(s, bare);
    return run_errors(s);
}
