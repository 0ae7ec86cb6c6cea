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
    event_t e[2];

    e[0] = WorkGroupDmaCreateTransaction(src + g * 16, tile, 32, 0);
#ifdef FIXED
    e[1] = WorkGroupDmaCreateTransaction(src, tile + 16, 32, 0);
#else
    e[1] = WorkGroupDmaCreateTransaction(src, tile + 8, 32, 0); // FAULT dma-wait
#endif
    wait_group_events(2, e);
#ifdef FIXED
    dst[g * 16 + l] = tile[l] + tile[16 + l];
#else
    dst[g * 16 + l] = tile[l] + tile[8 + l];
#endif
}
