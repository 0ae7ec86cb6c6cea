/* All lanes but one are replaced; the one that is left is too large, too.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float4 v = (src[i] + 1) * (float4)(1e10f, 2, 1e10f, 1e10f);
    int4 whole = (int4)(1), kept;

#ifdef FIXED
    whole = convert_int4_sat(v);
#else
    whole = convert_int4(v); // FAULT convert
#endif
    kept = (int4)(whole.y, whole.y, whole.z, 3);
    dst[i] = kept.x + kept.y / 2 - (kept.z & 1) + kept.w;
}
