/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half part[8], sum = 0;
    int i = get_global_id(0);
#ifdef FIXED
    int last = 6;
#else
    int last = 7;
#endif

    for (int n = 0; n < 6; n++)
        part[n] = src[(i + n) & 63];
    for (int n = 0; n < last; n++)
        sum += part[n];
    dst[i] = sum; // FAULT uninit
}
