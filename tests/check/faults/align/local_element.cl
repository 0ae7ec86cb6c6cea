/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
/* clang knows that an element of the array is aligned to 2 bytes only. */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[24] __attribute__((aligned(16)));
    int i = get_global_id(0), l = get_local_id(0);

    row[l] = src[i];
    if (l < 8)
        row[16 + l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    half8 v = vload8(0, &row[l]);
#else
    half8 v = *(__local half8 *)&row[l]; // FAULT note:align
#endif
    dst[i] = v.s0 + v.s3 + v.s7;
}
