/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x1x4
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="1,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half part[24];
    int y = get_global_id(0);
#ifdef FIXED
    item_dma_event_t e = WorkItemDmaCreateStrideTransaction(src + y * 16, part, 8, 16, 8, 16, 32, 0);
#else
    item_dma_event_t e = WorkItemDmaCreateStrideTransaction(src + y * 16, part, 8, 16, 8, 16, 24, 0); // FAULT dma-shape
#endif

    WaitWorkItemDmaEvents(1, &e);
    dst[y] = part[0] + part[8];
}
