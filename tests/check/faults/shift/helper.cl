/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
void set_bit(int *mask, int n)
{
    *mask |= 1 << n; // FAULT shift
}

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), mask = 0;

#ifdef FIXED
    set_bit(&mask, src[i] & 31);
#else
    set_bit(&mask, src[i]);
#endif
    dst[i] = mask;
}
