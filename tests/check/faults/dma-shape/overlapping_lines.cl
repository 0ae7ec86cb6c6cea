/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x8x16 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0), y = get_group_id(0);
    event_t e;

    tile[l] = tile[l + 16] = src[y * 16 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    e = WorkGroupDmaCreateStrideTransaction(tile, dst + y * 32, 32, 32, 32, 32, 64, 0);
#else
    e = WorkGroupDmaCreateStrideTransaction(tile, dst + y * 32, 32, 32, 32, 16, 64, 0); // FAULT dma-shape
#endif
    wait_group_events(1, &e);
}
