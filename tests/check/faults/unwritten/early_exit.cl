/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    if (i >= 64)
#else
    if (i >= 63)
#endif
        return;
    dst[i] = src[i];
}
