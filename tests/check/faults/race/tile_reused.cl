/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[16];
    int l = get_local_id(0);

    for (int y = 0; y < 4; y++) {
        row[l] = src[y * 16 + l]; // FAULT race
        barrier(CLK_LOCAL_MEM_FENCE);
        dst[y * 16 + l] = row[15 - l]; // FAULT race
#ifdef FIXED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}
