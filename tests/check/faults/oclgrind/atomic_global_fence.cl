/* ARGS --shape in0=1x1x1x4:i32 --shape in1=1x1x1x2:i32 --shape out0=1x1x1x2:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sums" type="input" port-index="1" format="BFYX"/>
 * SIZE global="4,1,1" local="2,1,1"
 * CLEAN
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __global int *sums)
{
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);

    if (l == 0)
        sums[g] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_add(sums + g, data[i]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0)
        dst[g] = sums[g];
}
