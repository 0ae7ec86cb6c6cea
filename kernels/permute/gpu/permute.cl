/* permute.cl for the GPU plug-in: shapes, types and the order are macros, so
 * the steps are constants.
 *
 * One work-item is one output element; dimension 2 counts output channels of
 * all batch items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void permute_gpu(__global const INPUT0_TYPE *restrict src,
                          __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / OUTPUT0_DIMS[1];
    const int c = get_global_id(2) % OUTPUT0_DIMS[1];
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[ORDER[0]] +
                     c * INPUT0_PITCHES[ORDER[1]] +
                     y * INPUT0_PITCHES[ORDER[2]] +
                     x * INPUT0_PITCHES[ORDER[3]];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   c * OUTPUT0_PITCHES[1] + y * OUTPUT0_PITCHES[2] +
                   x * OUTPUT0_PITCHES[3];

    dst[to] = src[from];
}
