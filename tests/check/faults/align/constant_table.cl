/* ARGS --shape in0=1x1x4x16:i16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__constant short taps[12] __attribute__((aligned(8))) = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

__kernel void k(__global const short *restrict src, __global short *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    short4 t = vload4(0, taps + (i & 7));
#else
    short4 t = *(__constant short4 *)(taps + (i & 7)); // FAULT note:align
#endif
    dst[i] = src[i] * t.x + t.w;
}
