/* ARGS --shape in0=1x1x1x64:f32 --shape out0=1x1x1x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    float3 p = vload3(i, src);
#else
    float3 p = *(__global const float3 *)(src + i * 3); // FAULT note:align
#endif

    dst[i] = p.x + p.y + p.z;
}
