/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="1,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half row[16], first[16];
    int y = get_global_id(0);
    item_dma_event_t e = WorkItemDmaCreateTransaction(src + y * 16, row, 32, 0);

#ifdef FIXED
    WorkItemDmaCreateStrideTransaction(src, first, 8, 8, 8, 8, 32, e);
    WaitWorkItemDmaEvents(1, &e);
#else
    WaitWorkItemDmaEvents(1, &e);
    WorkItemDmaCreateStrideTransaction(src, first, 8, 8, 8, 8, 32, e); // FAULT dma-wait
#endif
    for (int x = 0; x < 16; x++)
        dst[y * 16 + x] = row[x] - first[x]; // FAULT dma-wait
}
