/* ARGS --shape in0=1x1x4x16 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);
    half4 v = (half4)(src[i] * 256);

#ifdef FIXED
    dst[i] = length(convert_float4(v));
#else
    dst[i] = sqrt(dot(v * (half)4, v * (half)4)); // FAULT half
#endif
}
