/* float to half, one element per work-item, with the conversion instruction.
 * Dimension 2 counts the planes of all channels and batch items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void cvtf32f16(__global const float *restrict src,
                        __global half *restrict dst)
{
    const int i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
                      get_global_size(0) +
                  get_global_id(0);

    dst[i] = convert_half(src[i]);
}
