/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half rows[2][16];
    int l = get_local_id(0);

    rows[0][l] = src[l];
    for (int y = 0; y < 4; y++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y < 3)
#ifdef FIXED
            rows[(y + 1) & 1][l] = src[(y + 1) * 16 + l];
#else
            rows[y & 1][l] = src[(y + 1) * 16 + l]; // FAULT race
#endif
#ifdef FIXED
        dst[y * 16 + l] = rows[y & 1][15 - l];
#else
        dst[y * 16 + l] = rows[0][15 - l]; // FAULT race
#endif
    }
}
