/* A transfer that joined no event happens behind the wait for another.
 *
 * ARGS --shape in0=1x1x4x16:i32 --order all --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int row[16], first[16];
    int l = get_local_id(0), g = get_group_id(0);

    row[l] = first[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(row, src + g * 16, 16, 0);
#ifdef FIXED
    async_work_group_copy(first, src, 16, e);
#else
    async_work_group_copy(first, src, 16, 0);
#endif
    wait_group_events(1, &e);
    dst[g * 16 + l] = row[l] - first[l];
}
