/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x8x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

    dst[i * 2] = src[i];
#ifdef FIXED
    dst[i * 2 + 1] = 0;
#endif
}
