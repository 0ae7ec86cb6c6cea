/* ARGS --shape in0=1x1x4x16:f32 --input 0=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    float2 limit;
    int i = get_global_id(0);

    limit.x = 0.25f;
#ifdef FIXED
    limit.y = 0.75f;
#endif
    /* limit.x alone is no mistake */
    dst[i] = src[i] < limit.x ? 0.0f : src[i];
    if (any(isgreater((float2)(src[i]), limit))) // FAULT uninit
        dst[i] = 1;
}
