/* The border of a tile waits at another barrier than its inside.
 *
 * ARGS --shape in0=1x1x3x12
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="12,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[14];
    int x = get_local_id(0), at = get_global_id(1) * 12 + x;
    bool border = x == 0 || x == 11;

    row[1 + x] = src[at];
#ifdef FIXED
    if (border)
        row[x ? 13 : 0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    if (border) {
        row[x ? 13 : 0] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        barrier(CLK_LOCAL_MEM_FENCE); // FAULT divergence
    }
#endif
    dst[at] = row[x] + row[x + 2];
}
