/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    ulong bits = (ulong)src[i];

#ifdef FIXED
    bits = bits << (i & 63) | bits >> ((64 - i) & 63);
#else
    bits = bits << i | bits >> (64 - i); // FAULT shift
#endif
    dst[i] = (int)(bits >> 32);
}
