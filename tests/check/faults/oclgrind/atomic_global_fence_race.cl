/* ARGS --shape in0=1x1x1x4:i32 --shape in1=1x1x1x1:i32 --shape out0=1x1x1x2:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sum" type="input" port-index="1" format="BFYX"/>
 * SIZE global="4,1,1" local="2,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __global int *sum)
{
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);

#ifdef FIXED
    int seen = atomic_add(sum, data[i]);
#else
    atomic_add(sum, data[i]); // FAULT group-race
#endif
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0)
#ifdef FIXED
        dst[g] = seen;
#else
        dst[g] = *sum;
#endif
}
