/* docs/check.md: a barrier is missing between writing and reading the tile. */
__kernel void neighbour(__global const half *restrict src,
                        __global half *restrict dst)
{
    __local half tile[8];
    int x = get_global_id(0), y = get_global_id(1), l = get_local_id(0);

    tile[l] = src[y * 16 + x];
    dst[y * 16 + x] = tile[(l + 1) % 8];
}
