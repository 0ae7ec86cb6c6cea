/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,4,1" local="1,4,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half part[4];
    int i = get_global_id(0) * get_global_size(1) + get_global_id(1);

    for (int n = 0; n < 4; n++)
        part[n] = src[i * 4 + n];
#ifdef FIXED
    vstore4((half4)(part[0], part[1], part[2], part[3]), i, dst);
#else
    item_dma_event_t e = WorkItemDmaCreateTransaction(part, dst + i * 4, 8, 0); // FAULT dma-phase

    WaitWorkItemDmaEvents(1, &e);
#endif
}
