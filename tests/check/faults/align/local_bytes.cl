/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local uchar bytes[16 * 20 + 16] __attribute__((aligned(16)));
    int i = get_global_id(0), l = get_local_id(0);
#ifdef FIXED
    __local float4 *own = (__local float4 *)(bytes + l * 16);
#else
    __local float4 *own = (__local float4 *)(bytes + l * 20);
#endif

    *own = (float4)(src[i]); // FAULT note:align
    dst[i] = own->z; // FAULT note:align
}
