/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="rows" type="local_data" dim="input,0" size="16*9*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
half sum8(__local half *p)
{
    half8 v = *(__local half8 *)p; // FAULT note:align

    return v.s0 + v.s1 + v.s7;
}

__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *rows)
{
    int i = get_global_id(0), l = get_local_id(0);
#ifdef FIXED
    int pitch = 8;
#else
    int pitch = 9;
#endif

    for (int n = 0; n < 8; n++)
        rows[l * pitch + n] = src[(i + n) & 63];
    dst[i] = sum8(rows + l * pitch);
}
