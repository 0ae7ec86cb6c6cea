/* ARGS --shape in0=1x1x4x16:u8
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const uchar *restrict src, __global uchar *restrict dst)
{
    __local uchar row[17] __attribute__((aligned(4)));
    int i = get_global_id(0), l = get_local_id(0);

    if (l == 0)
        row[16] = 0;
#ifdef FIXED
    row[l] = src[i]; /* neighbours in one word: other bytes */
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore2((uchar2)(src[i], l), 0, row + l); // FAULT race
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = row[15 - l] + row[16];
}
