/* ARGS --shape in0=1x1x4x16:f32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float variance = src[i] * 128;

#ifdef FIXED
    variance += 1e-5f;
#endif
    dst[i] = rsqrt(variance); // FAULT nan
}
