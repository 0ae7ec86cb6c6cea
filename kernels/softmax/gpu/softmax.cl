/* softmax.cl for the GPU plug-in: shapes and types are macros.
 *
 * One work-item is one pixel; dimension 2 counts batch items. Work sizes cannot
 * depend on a parameter, so there is one axis only. All arithmetic is float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#if AXIS != 1
#error "SoftMaxGpu is for axis 1, the channels"
#endif

__kernel void softmax_gpu(__global const INPUT0_TYPE *restrict src,
                          __global OUTPUT0_TYPE *restrict dst)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2);
    const int from = INPUT0_OFFSET + b * INPUT0_PITCHES[0] +
                     y * INPUT0_PITCHES[2] + x * INPUT0_PITCHES[3];
    const int to = OUTPUT0_OFFSET + b * OUTPUT0_PITCHES[0] +
                   y * OUTPUT0_PITCHES[2] + x * OUTPUT0_PITCHES[3];
    float largest = (float)src[from], sum = 0.0f;

    for (int c = 1; c < INPUT0_DIMS[1]; c++)
        largest = fmax(largest, (float)src[from + c * INPUT0_PITCHES[1]]);
    for (int c = 0; c < INPUT0_DIMS[1]; c++)
        sum += exp((float)src[from + c * INPUT0_PITCHES[1]] - largest);
    for (int c = 0; c < INPUT0_DIMS[1]; c++) {
        const float e = exp((float)src[from + c * INPUT0_PITCHES[1]] - largest);

        dst[to + c * OUTPUT0_PITCHES[1]] = (OUTPUT0_TYPE)(e / sum);
    }
}
