/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    uint v = src[i], parity = 0;

#ifdef FIXED
    for (int n = 0; n < 32; n += 8)
#else
    for (int n = 0; n <= 32; n += 8)
#endif
        parity ^= v >> n & 255; // FAULT shift
    dst[i] = parity;
}
