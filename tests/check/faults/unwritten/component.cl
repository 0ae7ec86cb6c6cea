/* ARGS --shape in0=1x1x1x16:f32 --shape out0=1x1x16x4:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const float *restrict src, __global float4 *dst)
{
    int i = get_global_id(0);

    dst[i].xy = src[i];
#ifdef FIXED
    dst[i].w = 2;
#endif
    dst[i].z = 1;
}
