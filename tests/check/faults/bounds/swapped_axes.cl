/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="8,4,2" local="8,4,2"
 */
__kernel __attribute__((reqd_work_group_size(8, 4, 2)))
void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half tile[2][4][8];
    int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    int at = (z * 4 + y) * 8 + x;

#ifdef FIXED
    tile[z][y][x] = src[at];
#else
    tile[x][y][z] = src[at]; // FAULT bounds
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    dst[at] = tile[z][3 - y][x];
#else
    dst[at] = tile[x][3 - y][z]; // FAULT bounds
#endif
}
