/* Nine-point average of an image, edges left out: neighbours in both directions
 * from global memory, no local memory. */
__kernel void stencil(__global const float *restrict src,
                      __global float *restrict dst, int width)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;

    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += src[(y + dy) * width + x + dx];
    dst[y * width + x] = sum * (1.0f / 9.0f);
}
