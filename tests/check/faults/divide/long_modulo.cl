/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    ulong period = (ulong)src[i] << 32;

#ifdef FIXED
    if (period)
#endif
        dst[i] = (int)((12345678901UL + i) % period); // FAULT divide
#ifdef FIXED
    else
        dst[i] = 0;
#endif
}
