/* ARGS --shape in0=1x1x1x8:f32 --shape out0=1x1x8x6:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="8,1,1" local="8,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int y = get_global_id(0);
    __global float *row = dst + y * 6;

#ifdef FIXED
    vstore4((float4)(src[y]), 0, row);
#else
    *(__global float4 *)row = (float4)(src[y]); // FAULT note:align
#endif
    vstore2((float2)(1), 2, row);
}
