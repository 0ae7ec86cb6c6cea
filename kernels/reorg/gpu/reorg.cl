/* reorg.cl for the GPU plug-in: shapes, types and the stride are macros.
 *
 * One work-item is one output element; dimension 2 counts output channels of
 * all batch items. Divisors are constants, and so cost little. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_gpu(__global const INPUT0_TYPE *restrict src,
                        __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / OUTPUT0_DIMS[1];
    const int c = get_global_id(2) % OUTPUT0_DIMS[1];
    const int tile = c / INPUT0_DIMS[1];
    const int from_c = c % INPUT0_DIMS[1];
    const int from_y = y * (STRIDE) + tile / (STRIDE);
    const int from_x = x * (STRIDE) + tile % (STRIDE);
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[0] +
                     from_c * INPUT0_PITCHES[1] + from_y * INPUT0_PITCHES[2] +
                     from_x * INPUT0_PITCHES[3];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   c * OUTPUT0_PITCHES[1] + y * OUTPUT0_PITCHES[2] +
                   x * OUTPUT0_PITCHES[3];

    dst[to] = src[from];
}
