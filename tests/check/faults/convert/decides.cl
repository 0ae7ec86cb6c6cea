/* A number too large for its integer decides which way the item goes.
 *
 * ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    float v = src[i] + 1e10f;
    int n;

#ifdef FIXED
    n = convert_int_sat(v);
#else
    n = (int)v; // FAULT convert
#endif
    if (n > 7)
        dst[i] = 1;
    else
        dst[i] = 2;
}
