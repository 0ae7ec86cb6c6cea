/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int l = get_local_id(0), g = get_group_id(0);
    event_t e;
#ifdef FIXED
    int bytes = 32;
#else
    int bytes = 16; /* elements, not bytes */
#endif

    row[l] = src[g * 16 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = WorkGroupDmaCreateTransaction(row, dst + g * 16, bytes, 0);
    wait_group_events(1, &e);
}
