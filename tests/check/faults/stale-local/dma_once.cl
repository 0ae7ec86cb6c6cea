/* ARGS --shape in0=1x1x4x16 --shaves 1
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half weights[16];
    int i = get_global_id(0), l = get_local_id(0);

#ifndef FIXED
    if (get_group_id(0) == 0)
#endif
    {
        event_t e = async_work_group_copy(weights, src, 16, 0);

        wait_group_events(1, &e);
    }
    dst[i] = src[i] * weights[l]; // FAULT stale-local
}
