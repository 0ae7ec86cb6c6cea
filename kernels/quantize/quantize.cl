/* Fake quantization: values are moved to the nearest of `levels` evenly spaced
 * ones between in_low and in_high, and these mapped to out_low .. out_high.
 *
 * One work-item is one element; dimension 2 counts the channels of all batch
 * items. Arithmetic is float, ties go to the even level. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void quantize(__global const half *restrict src,
                       __global half *restrict dst, int levels, float in_low,
                       float in_high, float out_low, float out_high)
{
    const int i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
                      get_global_size(0) +
                  get_global_id(0);
    const float v = (float)src[i], steps = (float)(levels - 1);
    const float level = rint((v - in_low) / (in_high - in_low) * steps);
    const float out = level / steps * (out_high - out_low) + out_low;

    /* Chosen, not branched to, so that the items stay together. */
    dst[i] = convert_half(v <= in_low   ? out_low
                          : v > in_high ? out_high
                                        : out);
}
