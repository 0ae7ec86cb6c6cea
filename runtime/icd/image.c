/* Images and samplers, of which the device has none. */
#include "runtime/icd/icd.h"

static cl_mem no_image(cl_context context, cl_int *error)
{
    icd_say(error, icd_is(context, ICD_CONTEXT) ? CL_INVALID_OPERATION
                                                : CL_INVALID_CONTEXT);
    return NULL;
}

cl_mem icd_clCreateImage(cl_context context, cl_mem_flags flags,
                         const cl_image_format *format,
                         const cl_image_desc *desc, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)desc, (void)host;
    return no_image(context, error);
}

cl_mem icd_clCreateImage2D(cl_context context, cl_mem_flags flags,
                           const cl_image_format *format, size_t width,
                           size_t height, size_t row, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)width, (void)height, (void)row, (void)host;
    return no_image(context, error);
}

cl_mem icd_clCreateImage3D(cl_context context, cl_mem_flags flags,
                           const cl_image_format *format, size_t width,
                           size_t height, size_t depth, size_t row,
                           size_t slice, void *host, cl_int *error)
{
    (void)flags, (void)format, (void)width, (void)height, (void)depth;
    (void)row, (void)slice, (void)host;
    return no_image(context, error);
}

cl_int icd_clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                      cl_mem_object_type type, cl_uint n,
                                      cl_image_format *list, cl_uint *count)
{
    if (!icd_is(context, ICD_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!icd_memory_flags_agree(flags) || type < CL_MEM_OBJECT_IMAGE2D ||
        type > CL_MEM_OBJECT_IMAGE1D_BUFFER || (list && !n))
        return CL_INVALID_VALUE;
    if (count)
        *count = 0;
    return CL_SUCCESS;
}

cl_int icd_clGetImageInfo(cl_mem image, cl_image_info what, size_t room,
                          void *to, size_t *size)
{
    (void)image, (void)what, (void)room, (void)to, (void)size;
    return CL_INVALID_MEM_OBJECT;
}

cl_sampler icd_clCreateSampler(cl_context context, cl_bool normalized,
                               cl_addressing_mode addressing,
                               cl_filter_mode filter, cl_int *error)
{
    (void)normalized, (void)addressing, (void)filter;
    no_image(context, error);
    return NULL;
}

cl_int icd_clRetainSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int icd_clReleaseSampler(cl_sampler sampler)
{
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int icd_clGetSamplerInfo(cl_sampler sampler, cl_sampler_info what,
                            size_t room, void *to, size_t *size)
{
    (void)sampler, (void)what, (void)room, (void)to, (void)size;
    return CL_INVALID_SAMPLER;
}

static cl_int no_transfer(cl_command_queue q)
{
    return icd_is(q, ICD_QUEUE) ? CL_INVALID_OPERATION
                                : CL_INVALID_COMMAND_QUEUE;
}

cl_int icd_clEnqueueReadImage(cl_command_queue q, cl_mem image,
                              cl_bool blocking, const size_t *origin,
                              const size_t *region, size_t row, size_t slice,
                              void *to, cl_uint n, const cl_event *list,
                              cl_event *event)
{
    (void)image, (void)blocking, (void)origin, (void)region, (void)row;
    (void)slice, (void)to, (void)n, (void)list, (void)event;
    return no_transfer(q);
}

cl_int icd_clEnqueueWriteImage(cl_command_queue q, cl_mem image,
                               cl_bool blocking, const size_t *origin,
                               const size_t *region, size_t row, size_t slice,
                               const void *from, cl_uint n,
                               const cl_event *list, cl_event *event)
{
    (void)image, (void)blocking, (void)origin, (void)region, (void)row;
    (void)slice, (void)from, (void)n, (void)list, (void)event;
    return no_transfer(q);
}

cl_int icd_clEnqueueCopyImage(cl_command_queue q, cl_mem from, cl_mem to,
                              const size_t *from_origin,
                              const size_t *to_origin, const size_t *region,
                              cl_uint n, const cl_event *list, cl_event *event)
{
    (void)from, (void)to, (void)from_origin, (void)to_origin, (void)region;
    (void)n, (void)list, (void)event;
    return no_transfer(q);
}

cl_int icd_clEnqueueCopyImageToBuffer(cl_command_queue q, cl_mem from,
                                      cl_mem to, const size_t *origin,
                                      const size_t *region, size_t offset,
                                      cl_uint n, const cl_event *list,
                                      cl_event *event)
{
    (void)from, (void)to, (void)origin, (void)region, (void)offset;
    (void)n, (void)list, (void)event;
    return no_transfer(q);
}

cl_int icd_clEnqueueCopyBufferToImage(cl_command_queue q, cl_mem from,
                                      cl_mem to, size_t offset,
                                      const size_t *origin,
                                      const size_t *region, cl_uint n,
                                      const cl_event *list, cl_event *event)
{
    (void)from, (void)to, (void)offset, (void)origin, (void)region;
    (void)n, (void)list, (void)event;
    return no_transfer(q);
}

cl_int icd_clEnqueueFillImage(cl_command_queue q, cl_mem image,
                              const void *color, const size_t *origin,
                              const size_t *region, cl_uint n,
                              const cl_event *list, cl_event *event)
{
    (void)image, (void)color, (void)origin, (void)region, (void)n;
    (void)list, (void)event;
    return no_transfer(q);
}

void *icd_clEnqueueMapImage(cl_command_queue q, cl_mem image, cl_bool blocking,
                            cl_map_flags flags, const size_t *origin,
                            const size_t *region, size_t *row, size_t *slice,
                            cl_uint n, const cl_event *list, cl_event *event,
                            cl_int *error)
{
    (void)image, (void)blocking, (void)flags, (void)origin, (void)region;
    (void)row, (void)slice, (void)n, (void)list, (void)event;
    icd_say(error, no_transfer(q));
    return NULL;
}
