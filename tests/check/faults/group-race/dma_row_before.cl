/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);

    dst[i] = src[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (g) {
#ifdef FIXED
        event_t e = async_work_group_copy(row, src + (g - 1) * 16, 16, 0);
#else
        event_t e = async_work_group_copy(row, dst + (g - 1) * 16, 16, 0); // FAULT group-race
#endif

        wait_group_events(1, &e);
        dst[i] += row[l];
    }
}
