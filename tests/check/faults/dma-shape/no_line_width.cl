/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
/* A transfer that is refused brings nothing; that is no mistake of its own. */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int i = get_global_id(0), l = get_local_id(0);
    event_t e;

#ifdef FIXED
    e = WorkGroupDmaCreateStrideTransaction(src + get_group_id(0) * 16, row, 32, 32, 32, 32, 32, 0);
#else
    e = WorkGroupDmaCreateStrideTransaction(src + get_group_id(0) * 16, row, 32, 0, 32, 32, 32, 0); // FAULT dma-shape
#endif
    wait_group_events(1, &e);
    dst[i] = row[l];
}
