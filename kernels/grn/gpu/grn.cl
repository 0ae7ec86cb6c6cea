/* grn.cl for the GPU plug-in: shapes, types and the bias are macros.
 *
 * One work-item is one pixel; dimension 2 counts batch items. Squares and their
 * sum, in channel order, are float; the factor has the tensor's type before it
 * multiplies. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void grn_gpu(__global const INPUT0_TYPE *restrict src,
                      __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2);
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[0] +
                     y * INPUT0_PITCHES[2] + x * INPUT0_PITCHES[3];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   y * OUTPUT0_PITCHES[2] + x * OUTPUT0_PITCHES[3];
    float sum = (float)(BIAS);

    for (int c = 0; c < INPUT0_DIMS[1]; c++) {
        const float v = (float)src[from + c * INPUT0_PITCHES[1]];

        sum += v * v;
    }

    const OUTPUT0_TYPE factor = (OUTPUT0_TYPE)rsqrt(sum);

    for (int c = 0; c < INPUT0_DIMS[1]; c++)
        dst[to + c * OUTPUT0_PITCHES[1]] =
            src[from + c * INPUT0_PITCHES[1]] * factor;
}
