/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), v = src[i];
#ifdef FIXED
    int sign = 0;
#else
    int sign;
#endif

    if (v > 10)
        sign = 1;
    if (sign) // FAULT uninit
        dst[i] = v;
    else
        dst[i] = -v;
}
