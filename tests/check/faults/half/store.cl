/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    vstore_half(src[i] * 256 * 1000.0f, i, dst);
#else
    vstore_half(src[i] * 256 * 2000.0f, i, dst); // FAULT half
#endif
}
