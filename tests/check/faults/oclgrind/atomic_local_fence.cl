/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x2:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="2,1,1"
 * CLEAN
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __local int *scratch)
{
    int i = get_global_id(0), l = get_local_id(0);

    if (l == 0)
        *scratch = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_add(scratch, data[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        dst[get_group_id(0)] = *scratch;
}
