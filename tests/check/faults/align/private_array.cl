/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    half row[16] __attribute__((aligned(16)));
    int i = get_global_id(0);

    for (int n = 0; n < 16; n++)
        row[n] = src[(i + n) & 63];
#ifdef FIXED
    half8 v = *(half8 *)(row + (i & 1) * 8);
#else
    half8 v = *(half8 *)(row + (i & 1)); // FAULT note:align
#endif
    dst[i] = v.s3;
}
