/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half tile[16], next[16];
    int i = get_global_id(0), l = get_local_id(0);

#ifdef FIXED
    tile[l] = src[i];
#else
    tile[l + 1] = src[i]; // FAULT bounds
    tile[0] = 0;
#endif
    next[l] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = tile[15 - l] + next[l];
}
