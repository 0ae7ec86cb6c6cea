/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float4 v = vload4(i, src);

    v.y = 0;
#ifdef FIXED
    vstore4(v, i, dst);
#else
    vstore3(v.xyz, 0, dst + i * 4);
#endif
}
