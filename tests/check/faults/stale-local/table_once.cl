/* ARGS --shape in0=1x1x4x16 --shaves 1
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half table[32];
    int i = get_global_id(0), l = get_local_id(0);

#ifndef FIXED
    if (get_group_id(0) == 0)
#endif
    {
        table[l] = l;
        table[l + 16] = l * l;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = src[i] * table[31 - l]; // FAULT stale-local
}
