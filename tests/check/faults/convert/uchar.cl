/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x4x16:u8 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global uchar *restrict dst)
{
    int i = get_global_id(0);
    half v = src[i] * 2048;

#ifdef FIXED
    dst[i] = convert_uchar_sat(v);
#else
    dst[i] = convert_uchar(v); // FAULT convert
#endif
}
