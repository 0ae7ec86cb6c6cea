/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x1x60
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

    if (i > 14)
        return;
#ifdef FIXED
    half4 v = vload4(0, src + i * 4 + 1);
#else
    half4 v = *(__global const half4 *)(src + i * 4 + 1); // FAULT note:align
#endif
    vstore4(v, i, dst);
}
