/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    float sum = 0;
#else
    float sum;
#endif

    for (int n = 0; n < 16; n++)
        sum = sum + src[(i + n) & 63];
    dst[i] = sum / 16; // FAULT uninit
}
