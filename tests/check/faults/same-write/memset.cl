/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int row[16];
    int i = get_global_id(0), l = get_local_id(0);

#ifdef FIXED
    row[l] = 0;
#else
    for (int n = 0; n < 16; n++)
        row[n] = 0; // FAULT same-write
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    row[l] += src[i];
    dst[i] = row[l];
}
