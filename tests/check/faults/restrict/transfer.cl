/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="a" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="b" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global half *restrict a, __global half *b, __global const half *restrict src)
{
    __local half row[16];
    int l = get_local_id(0), first = get_group_id(0) * 16;
    event_t e;

    a[first + l] = src[first + l];
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifdef FIXED
    e = async_work_group_copy(row, a + first, 16, 0);
#else
    e = async_work_group_copy(row, b + first, 16, 0); // FAULT restrict
#endif
    wait_group_events(1, &e);
    a[first + l] = row[15 - l];
}
