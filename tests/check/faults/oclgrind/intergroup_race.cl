/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="2,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0), sum = 0;

    if (get_local_id(0) == 0)
        data[g] = g; // FAULT group-race
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifndef FIXED
    if (i == 0)
        for (int n = 0; n < get_num_groups(0); n++)
            sum += data[n];
#endif
    dst[i] = sum;
}
