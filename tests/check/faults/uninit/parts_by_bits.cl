/* Components are written one after the other, as the bits they are; the rest
 * of the vector is put back as nobody has written it.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:f32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F/4,1,1" local="4,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    __global float4 *to = (__global float4 *)dst + i;

    int4 v = as_int4(*to);

    v.x = as_int(src[4 * i]);
    *to = as_float4(v);
    v = as_int4(*to);
    v.yz = as_int2((float2)(src[4 * i + 1], 1));
    *to = as_float4(v);
#ifdef FIXED
    v = as_int4(*to);
    v.w = 0;
    *to = as_float4(v);
#endif
#ifdef FIXED
    dst[4 * i] = dst[4 * i + 3];
#else
    dst[4 * i] = dst[4 * i + 3]; // FAULT uninit
#endif
}
