/* ARGS --shape in0=1x1x4x16 --order all --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int l = get_local_id(0), first = get_group_id(0) * 16;
    event_t e;

    row[l] = src[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(dst + first, row, 16, 0);
#ifdef FIXED
    wait_group_events(1, &e);
    row[l] = 0;
#else
    row[l] = 0;
    wait_group_events(1, &e);
#endif
}
