/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0), at;

    for (int n = 0; n < 64; n++)
        if (src[n] > 2.0f)
            at = n;
#ifdef FIXED
    at = i;
#endif
    dst[i] = src[at & 63]; // FAULT uninit
}
