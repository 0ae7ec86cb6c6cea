/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[32];
    int l = get_local_id(0), g = get_group_id(0);
#ifdef FIXED
    int at = g & 1;
#else
    int at = l & 1;
#endif
    event_t e = async_work_group_copy(row + at * 16, src + g * 16, 16, 0); // FAULT divergence

    wait_group_events(1, &e);
#ifdef FIXED
    dst[g * 16 + l] = row[at * 16 + l];
#else
    dst[g * 16 + l] = row[l];
#endif
}
