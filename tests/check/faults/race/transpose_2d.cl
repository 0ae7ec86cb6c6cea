/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="8,8,1" local="8,8,1"
 */
void turn(__local half (*tile)[8], int x, int y, __global half *out)
{
    out[0] = tile[x][y]; // FAULT race uninit
}

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half tile[8][8];
    int x = get_local_id(0), y = get_local_id(1);

    tile[y][x] = src[y * 8 + x]; // FAULT race
#ifdef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    turn(tile, x, y, dst + y * 8 + x);
}
