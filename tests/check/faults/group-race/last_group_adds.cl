/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x1:i32 --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sum" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *sum,
                __global int *restrict dst)
{
    int g = get_group_id(0);

    dst[get_global_id(0)] = 0;
    atomic_add(sum, src[get_global_id(0)]);
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifdef FIXED
    if (g == 3 && get_local_id(0) == 0)
        dst[get_global_id(0)] = atomic_or(sum, 0);
#else
    if (g == 3 && get_local_id(0) == 0)
        dst[get_global_id(0)] = *sum; // FAULT group-race
#endif
}
