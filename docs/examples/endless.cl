/* docs/debugging.md: two of sixteen work-groups never end. */
__kernel void add(__global const half *src, __global half *dst)
{
    int n = get_global_id(2) * 4 + get_global_id(1);

    while (n % 4 == 1 && get_group_id(0) == 1)
        n += 4;
    dst[n * 16 + get_global_id(0)] = src[n * 16 + get_global_id(0)] + 1;
}
