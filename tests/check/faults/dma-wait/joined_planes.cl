/* The vendor's functions take an event likewise; what joins an event returns
 * it.
 *
 * ARGS --shape in0=1x2x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*4"/>
 * SIZE global="32,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst,
                __local half *tile)
{
    int l = get_local_id(0), f = get_group_id(0);
    __local half *rest = tile + 96;
    event_t e[2], all;

    e[0] = async_work_group_copy_2D2D(tile, src + f * 64, 16, 2, 0, 0, 0);
    e[1] = async_work_group_copy_2D2D(tile + 32, src + f * 64 + 32, 16, 2, 0, 0,
                                      e[0]);
    all = WorkGroupDmaCreateStrideTransaction(src, tile + 64, 16, 16, 32, 16,
                                              64, e[1]);
#ifdef FIXED
    async_work_group_copy_3D3D(rest, src + 64, 4, 2, 0, 0, 4, 8, 0, all);
#else
    async_work_group_copy_3D3D(rest, src + 64, 4, 2, 0, 0, 4, 8, 0, // FAULT dma-wait
                               0);
#endif
    wait_group_events(1, &all);
    for (int n = l; n < 64; n += 16)
        dst[f * 64 + n] = tile[n] + tile[n + 64]; // FAULT dma-wait
}
