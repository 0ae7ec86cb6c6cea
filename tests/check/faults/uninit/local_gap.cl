/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int i = get_global_id(0), l = get_local_id(0);

    if (l % 4 != 3)
        row[l] = src[i];
#ifdef FIXED
    else
        row[l] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = row[15 - l]; // FAULT uninit
}
