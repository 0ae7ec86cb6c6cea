/* The last layer of a detector: at every pixel, each of several boxes has its
 * coordinates, the first two of them offsets in the pixel, a confidence and the
 * scores of its classes, channels one after the other.
 *
 *   offsets, confidence    1 / (1 + exp(-v))
 *   further coordinates    as they are
 *   scores                 exp(v - m) / sum over the scores of exp(v - m)
 *
 * where m is the largest score. One work-item is one box at one pixel, one
 * work-group a row; dimension 2 counts the boxes of all items of the batch. All
 * arithmetic is float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static half logistic(half v)
{
    return convert_half(1.0f / (1.0f + exp(-(float)v)));
}

__kernel void region(__global const half *restrict src,
                     __global half *restrict dst, int coords, int classes)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int scores = coords + 1; /* channel of the first */
    const int box = get_global_id(2) * (scores + classes) * plane +
                    get_global_id(1) * get_global_size(0) + get_global_id(0);

    __global const half *from = src + box;
    __global half *to = dst + box;

    for (int c = 0; c < scores; c++) {
        const half v = from[c * plane];

        to[c * plane] = c < 2 || c == coords ? logistic(v) : v;
    }

    from += scores * plane;
    to += scores * plane;

    float largest = (float)from[0], sum = 0.0f;

    for (int c = 1; c < classes; c++)
        largest = fmax(largest, (float)from[c * plane]);
    for (int c = 0; c < classes; c++)
        sum += exp((float)from[c * plane] - largest);
    for (int c = 0; c < classes; c++)
        to[c * plane] =
            convert_half(exp((float)from[c * plane] - largest) / sum);
}
