/* resample.cl for the GPU plug-in: shapes and types are macros.
 *
 * One work-item is one output element; dimension 2 counts the channels of all
 * batch items. Positions are integers, so there is no rounding. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void resample_gpu(__global const INPUT0_TYPE *restrict src,
                           __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / OUTPUT0_DIMS[1];
    const int c = get_global_id(2) % OUTPUT0_DIMS[1];
    const int from_y = y * INPUT0_DIMS[2] / OUTPUT0_DIMS[2];
    const int from_x = x * INPUT0_DIMS[3] / OUTPUT0_DIMS[3];
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[0] +
                     c * INPUT0_PITCHES[1] + from_y * INPUT0_PITCHES[2] +
                     from_x * INPUT0_PITCHES[3];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   c * OUTPUT0_PITCHES[1] + y * OUTPUT0_PITCHES[2] +
                   x * OUTPUT0_PITCHES[3];

    dst[to] = src[from];
}
