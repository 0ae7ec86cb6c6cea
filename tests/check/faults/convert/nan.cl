/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float v = sqrt((src[i] * 256) - 3);

#ifdef FIXED
    dst[i] = isnan(v) ? 0 : (int)v;
#else
    dst[i] = (int)v; // FAULT convert
#endif
}
