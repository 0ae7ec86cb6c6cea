/* As little work as a work-group can have. */
__kernel void tiny(__global const float *restrict src,
                   __global float *restrict dst)
{
    const int i = get_global_id(0);

    dst[i] = src[i] + 1.0f;
}
