/* ARGS --shape in0=1x4x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,F" local="16,1,1"
 */
/* Eight read an element while each writes one of its own, twice, and reads it:
 * of one array, so that each access is looked at. */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half all[19];
    int l = get_local_id(0);
    int i = (get_global_id(2) * 4 + get_global_id(1)) * 16 + l;

    if (l < 2)
        all[l] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    all[2 + l] = all[l / 8] * src[i]; // FAULT race
#ifdef FIXED
    all[2 + l] = all[2 + l] + all[l % 2];
#else
    all[3 + l] = all[2 + l] + all[l % 2];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = all[2 + l];
}
