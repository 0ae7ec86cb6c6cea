/* A transfer to the output that is refused: that nobody writes the output is no
 * second mistake.
 *
 * ARGS --shape in0=1x1x1x64 --shape out0=1x1x1x64
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half tile[64];
    int l = get_local_id(0);
    event_t e;

    for (int i = l; i < 64; i += 16)
        tile[i] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    e = WorkGroupDmaCreateStrideTransaction(tile, dst, 16, 16, 16, 16, 128, 0);
#else
    e = WorkGroupDmaCreateStrideTransaction(tile, dst, 0, 16, 16, 16, 128, 0); // FAULT dma-shape
#endif
    wait_group_events(1, &e);
}
