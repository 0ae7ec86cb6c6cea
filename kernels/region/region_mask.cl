/* The last layer of a detector whose classes do not exclude each other: as
 * region.cl, with every score on its own.
 *
 *   offsets, confidence, scores    1 / (1 + exp(-v))
 *   further coordinates            as they are
 *
 * Of the source's boxes only three are wanted: box k of dst is box mask_k of
 * src. Dimension 2 counts the boxes of dst of all items of the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static half logistic(half v)
{
    return convert_half(1.0f / (1.0f + exp(-(float)v)));
}

__kernel void region_mask(__global const half *restrict src,
                          __global half *restrict dst, int coords, int classes,
                          int num, int mask_0, int mask_1, int mask_2)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(1) * get_global_size(0) + get_global_id(0);
    const int channels = coords + 1 + classes;
    const int b = get_global_id(2) / 3, k = get_global_id(2) % 3;
    const int box = b * num + (k == 0 ? mask_0 : k == 1 ? mask_1 : mask_2);

    __global const half *from = src + box * channels * plane + pixel;
    __global half *to = dst + get_global_id(2) * channels * plane + pixel;

    for (int c = 0; c < channels; c++) {
        const half v = from[c * plane];

        to[c * plane] = c < 2 || c >= coords ? logistic(v) : v;
    }
}
