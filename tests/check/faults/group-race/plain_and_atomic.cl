/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x8:i32 --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sum" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *sum,
                __global int *restrict dst)
{
    int i = get_global_id(0);

    dst[i] = src[i];
#ifndef FIXED
    if (i == 20)
        sum[0] = 0; // FAULT rewritten
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    atomic_add(sum, src[i]); // FAULT group-race
}
