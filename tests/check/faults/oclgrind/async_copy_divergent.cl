/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __local int *scratch)
{
    int l = get_local_id(0), n = get_local_size(0);
#ifdef FIXED
    int elements = n;
#else
    int elements = l == n - 1 ? 1 : n;
#endif
    event_t e = async_work_group_copy(scratch, data, elements, 0); // FAULT divergence

    wait_group_events(1, &e);
    dst[n - 1 - l] = scratch[l];
}
