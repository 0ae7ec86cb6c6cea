/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    float4 v;
    int i = get_global_id(0);

    v.x = src[i];
    v.y = v.x * 2;
    v.z = v.y * 2;
#ifdef FIXED
    v.w = 0;
#endif
    dst[i] = dot(v, (float4)(1, 2, 3, 4)); // FAULT uninit
}
