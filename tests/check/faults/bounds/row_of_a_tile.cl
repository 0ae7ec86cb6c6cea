/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,4,1" local="16,4,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half tile[4][16];
    int x = get_local_id(0), y = get_local_id(1);

    tile[y][x] = src[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    dst[y * 16 + x] = tile[y][x] + tile[3 - y][min(x + 1, 15)];
#else
    dst[y * 16 + x] = tile[y][x] + tile[y / 2][x + 1]; // FAULT bounds
#endif
}
