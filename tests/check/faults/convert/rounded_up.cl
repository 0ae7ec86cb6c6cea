/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float v = 127.0f + ((src[i] * 256) > 10 ? 0.75f : 0.25f);

#ifdef FIXED
    dst[i] = convert_char_rtz(v);
#else
    dst[i] = convert_char_rte(v); // FAULT convert
#endif
}
