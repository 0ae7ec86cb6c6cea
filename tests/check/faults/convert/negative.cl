/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    uint v = (uint)max((src[i] * 256) - 4, 0.0f);
#else
    uint v = (uint)((src[i] * 256) - 4); // FAULT convert
#endif

    dst[i] = v & 255;
}
