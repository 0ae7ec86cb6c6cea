/* Mean-variance normalisation, stage 1: subtract the mean, multiply by one over
 * the standard deviation, both left in stats by stage 0.
 *
 * One work-item is one element; dimension 2 counts the channels of all batch
 * items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void mvn_apply(__global const half *restrict src,
                        __global half *restrict dst,
                        __global const float *restrict stats)
{
    const int channel = get_global_id(2);
    const int i = (channel * get_global_size(1) + get_global_id(1)) *
                      get_global_size(0) +
                  get_global_id(0);
    const float mean = stats[2 * channel];
    const float factor = stats[2 * channel + 1];

    dst[i] = convert_half(((float)src[i] - mean) * factor);
}
