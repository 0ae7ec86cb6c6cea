/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16], first[16];
    int l = get_local_id(0), g = get_group_id(0);
    event_t e[2];

    e[0] = async_work_group_copy(row, src + g * 16, 16, 0);
    e[1] = async_work_group_copy(first, src, 16, 0);
#ifdef FIXED
    wait_group_events(2, e);
#else
    wait_group_events(l < 8 ? 2 : 1, e); // FAULT divergence
#endif
    dst[g * 16 + l] = row[l] - first[l];
}
