/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x8:i32 --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="flag" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *flag,
                __global int *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0);

#ifndef FIXED
    if (i == 0)
        flag[0] = 1;
    dst[i] = flag[0] ? src[i] : 0; // FAULT group-race race
#else
    if (get_local_id(0) == 0)
        flag[g] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    dst[i] = flag[g] ? src[i] : 0;
#endif
}
