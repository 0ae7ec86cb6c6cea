/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[17];
    int l = get_local_id(0), g = get_group_id(0);

    row[l] = src[g * 16 + l];
    if (l == 0)
        row[16] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    for (int n = l; n < 16; n += 16)
#else
    for (int n = l; n < 17 && g * 16 + n < 64; n += 16)
#endif
        dst[g * 16 + n] = row[n]; // FAULT rewritten
}
