/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,4,1" local="8,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int x = get_local_id(0) + 8 * get_group_id(0), y = get_group_id(1);

#ifdef FIXED
    dst[y * 16 + x] = src[y * 16 + x];
#else
    y = get_group_id(0);
    dst[y * 16 + x] = src[y * 16 + x]; // FAULT rewritten
#endif
}
