/* ARGS --shape in0=1x1x4x16 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);
    half part = src[i] - src[i & ~3];

#ifdef FIXED
    dst[i] = part != 0 ? src[i] / part : src[i];
#else
    dst[i] = (src[i] - src[i & ~3]) / part; // FAULT nan
#endif
}
