/* Conversion truncates towards zero: what is above -1 becomes 0, -1 does not.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float v = src[i] * 64; // a quarter of the item

#ifdef FIXED
    dst[i] = (uint)(v - 0.9375f);
#else
    dst[i] = (uint)(v - 1); // FAULT convert
#endif
}
