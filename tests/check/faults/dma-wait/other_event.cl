/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0), g = get_group_id(0);
    event_t in = async_work_group_copy(tile, src + g * 16, 16, 0);
    event_t weights = async_work_group_copy(tile + 16, src, 16, 0);

#ifdef FIXED
    wait_group_events(1, &weights);
#else
    wait_group_events(1, &in);
#endif
    half w = tile[16 + l]; // FAULT dma-wait
#ifdef FIXED
    wait_group_events(1, &in);
#else
    wait_group_events(1, &weights);
#endif
    dst[g * 16 + l] = tile[l] * w;
}
