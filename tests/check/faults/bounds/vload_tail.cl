/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    half8 v = vload8(0, src + min(i, 56));
#else
    half8 v = vload8(0, src + i); // FAULT bounds
#endif
    dst[i] = v.s0 + v.s7;
}
