/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int i = get_global_id(0), l = get_local_id(0);

    row[l] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    row[l] = row[l] * 2;
#else
    row[l] = row[l ? l - 1 : 0] * 2; // FAULT race
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = row[l];
}
