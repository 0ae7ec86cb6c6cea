/* The sum of each 256 elements, as a tree in local memory with a barrier per
 * level. */
__kernel void reduction(__global const float *restrict src,
                        __global float *restrict dst, __local float *part)
{
    const int i = get_local_id(0);

    part[i] = src[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 128; n > 0; n /= 2) {
        if (i < n)
            part[i] += part[i + n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        dst[get_group_id(0)] = part[0];
}
