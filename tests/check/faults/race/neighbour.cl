/* ARGS --shape in0=1x4x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="8,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[8];
    int i = get_global_id(0), l = get_local_id(0);

    row[l] = src[i]; // FAULT race
#ifdef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    dst[i] = row[7 - l]; // FAULT race uninit
}
