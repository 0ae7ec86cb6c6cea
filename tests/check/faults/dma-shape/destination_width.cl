/* ARGS --shape in0=1x1x16x16 --shape out0=1x1x1x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*2"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0);
#ifdef FIXED
    int width = 16;
#else
    int width = 24;
#endif
    event_t e = WorkGroupDmaCreateStrideTransaction(src, tile, 16, width, 32, width, 64, 0); // FAULT dma-shape

    wait_group_events(1, &e);
    dst[l] = tile[l];
}
