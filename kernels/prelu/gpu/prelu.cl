/* prelu.cl for the GPU plug-in: shapes and types are macros.
 *
 * One work-item is one element; dimension 2 counts the channels of all batch
 * items. Slopes [F] are the plug-in's F, 1, 1, 1: then they lie along b. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void prelu_gpu(__global const INPUT0_TYPE *restrict src,
                        __global const INPUT1_TYPE *restrict slopes,
                        __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / INPUT0_DIMS[1];
    const int c = get_global_id(2) % INPUT0_DIMS[1];
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[0] +
                     c * INPUT0_PITCHES[1] + y * INPUT0_PITCHES[2] +
                     x * INPUT0_PITCHES[3];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   c * OUTPUT0_PITCHES[1] + y * OUTPUT0_PITCHES[2] +
                   x * OUTPUT0_PITCHES[3];
    const int step = INPUT1_DIMS[1] > 1 ? INPUT1_PITCHES[1] : INPUT1_PITCHES[0];
    const INPUT1_TYPE slope = slopes[INPUT1_OFFSET + c * step];
    const INPUT0_TYPE v = src[from];

    dst[to] = v > (INPUT0_TYPE)0 ? v : v * slope;
}
