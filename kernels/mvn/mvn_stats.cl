/* Mean-variance normalisation, stage 0: two floats per channel, its mean and
 * one over its standard deviation.
 *
 * One work-item is one channel of one batch item. Sums are float and take the
 * plane in row-major order; the variance is that of the differences from the
 * rounded mean. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void mvn_stats(__global const half *restrict src,
                        __global float *restrict stats, int H, int W, float eps)
{
    const int plane = H * W;
    const int channel =
        get_global_id(1) * get_global_size(0) + get_global_id(0);
    __global const half *from = src + channel * plane;
    float sum = 0.0f, squares = 0.0f;

    for (int i = 0; i < plane; i++)
        sum += (float)from[i];

    const float mean = sum / (float)plane;

    for (int i = 0; i < plane; i++) {
        const float d = (float)from[i] - mean;

        squares += d * d;
    }

    stats[2 * channel] = mean;
    stats[2 * channel + 1] = rsqrt(squares / (float)plane + eps);
}
