/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __local int *scratch)
{
    int l = get_local_id(0), n = get_local_size(0);
    event_t e = 0;

    for (int k = 0; k < n; k++)
        e = async_work_group_copy(scratch + k, data + k, 1, e);
    wait_group_events(1, &e);
    dst[n - 1 - l] = scratch[l];
}
