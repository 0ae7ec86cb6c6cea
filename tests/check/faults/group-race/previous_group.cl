/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

    dst[i] = src[i];
#ifdef FIXED
    dst[i] += src[max(i - 16, 0)];
#else
    if (i >= 16)
        dst[i] += dst[i - 16]; // FAULT group-race
#endif
}
