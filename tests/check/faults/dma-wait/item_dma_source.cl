/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="1,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half row[16];
    int y = get_global_id(0);
    item_dma_event_t e;

    for (int x = 0; x < 16; x++)
        row[x] = src[y * 16 + x];
    e = WorkItemDmaCreateTransaction(row, dst + y * 16, 32, 0);
#ifdef FIXED
    WaitWorkItemDmaEvents(1, &e);
#endif
    row[y] = 0; // FAULT dma-wait
#ifndef FIXED
    WaitWorkItemDmaEvents(1, &e);
#endif
}
