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
    event_t e = async_work_group_copy(tile, src + g * 16, 16, 0);

    wait_group_events(1, &e);
    dst[g * 16 + l] = tile[l];
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    e = async_work_group_copy(dst + g * 16, tile, 16, 0);
#endif
    wait_group_events(1, &e); // FAULT dma-wait
}
