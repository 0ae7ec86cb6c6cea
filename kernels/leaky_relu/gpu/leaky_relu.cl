/* leaky_relu.cl for the GPU plug-in: shapes, types and the slope are macros.
 *
 * One work-item is one element; dimension 2 counts the channels of all batch
 * items. Pitches and offsets, not sizes, say where an element is, since
 * neighbours in the network may have asked for padding. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void leaky_relu_gpu(__global const INPUT0_TYPE *restrict src,
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
    const float v = (float)src[from];

    dst[to] = (OUTPUT0_TYPE)(v > 0.0f ? v : v * (float)(NEGATIVE_SLOPE));
}
