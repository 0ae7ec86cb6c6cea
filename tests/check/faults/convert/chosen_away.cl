/* Lanes that are too large are replaced afterwards: no result depends on what
 * the conversion made of them.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float4 v = src[i] * (float4)(1, 2, 3, 1e10f);
    float4 limit = (float4)(1e9f);
    int4 whole, kept;

#ifdef FIXED
    whole = convert_int4(min(v, limit));
#else
    whole = convert_int4(v); // FAULT note:convert
#endif
    kept = select(whole, (int4)(-1), isgreater(v, limit));
    dst[i] = kept.x + kept.y + kept.z + kept.w;
}
