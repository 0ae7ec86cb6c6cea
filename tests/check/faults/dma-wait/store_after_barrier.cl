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
    event_t e = async_work_group_strided_copy(tile, src + g, 16, 4, 0);

#ifdef FIXED
    wait_group_events(1, &e);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = tile[l] + (half)1;
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = (half)1; // FAULT dma-wait
    wait_group_events(1, &e);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[g * 16 + l] = tile[l];
}
