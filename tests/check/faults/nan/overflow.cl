/* ARGS --shape in0=1x1x4x16:f32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float v = 1;

    for (int n = 0; n < i; n++)
        v *= 2;
#ifdef FIXED
    dst[i] = v * v;
#else
    dst[i] = v * v * v; // FAULT nan
#endif
}
