/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="8,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half part[4];
    int i = get_global_id(0);
#ifdef FIXED
    for (int n = 0; n < 4; n++)
        part[n] = src[i * 4 + n];
#else
    item_dma_event_t e = WorkItemDmaCreateTransaction(src + i * 4, part, 8, 0); // FAULT dma-phase

    WaitWorkItemDmaEvents(1, &e);
#endif
    for (int n = 0; n < 4; n++)
        dst[i * 4 + n] = part[3 - n]; // FAULT uninit
}
