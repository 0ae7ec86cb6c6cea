/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float4 v = (float4)((src[i] * 256), (src[i] * 256) * 1000, (src[i] * 256) * 2000, -1);
#ifdef FIXED
    short4 s = convert_short4_sat(v);
#else
    short4 s = convert_short4(v); // FAULT convert
#endif

    dst[i] = s.x + s.y + s.z + s.w;
}
