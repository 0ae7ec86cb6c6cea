__kernel void scale(__global const half *restrict src,
                    __global half *restrict dst,
                    int width, int height, float factor, float offset)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    int c = get_global_id(2);
    int i = (c * height + y) * width + x;

    dst[i] = (half)((float)src[i] * factor + offset);
}
