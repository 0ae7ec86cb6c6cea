/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    float keep[12] __attribute__((aligned(16)));
    int i = get_global_id(0), at = (i & 1) * 4;

    for (int n = 0; n < 12; n++)
        keep[n] = src[i] * n;
#ifdef FIXED
    *(float4 *)&keep[at] = (float4)(1, 2, 3, 4);
#else
    *(float4 *)&keep[at + 1] = (float4)(1, 2, 3, 4); // FAULT note:align
#endif
    dst[i] = keep[2] + keep[6];
}
