/* ARGS --shape in0=1x1x4x16 --shaves 1
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="row" type="local_data" dim="input,0" size="18*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *row)
{
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);

    row[l + 1] = src[i];
    if (l == 0 && g == 0)
        row[0] = row[17] = 0;
#ifdef FIXED
    if (l == 0 && g)
        row[0] = row[17] = src[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = row[l] + row[l + 1] + row[l + 2]; // FAULT stale-local
}
