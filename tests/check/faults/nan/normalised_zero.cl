/* ARGS --shape in0=1x1x4x16:f32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
float3 unit(float3 v)
{
    float n = sqrt(dot(v, v));

#ifdef FIXED
    n = max(n, 1e-6f);
#endif
    return v / n; // FAULT nan
}

__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float3 v = unit((float3)((src[i] * 256), 0, 0));

    dst[i] = v.x + v.y;
}
