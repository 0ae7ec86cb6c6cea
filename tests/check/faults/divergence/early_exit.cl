/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x4x13:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float row[16];
    int i = get_global_id(0), l = get_local_id(0);

#ifndef FIXED
    if (l > 12)
        return;
#endif
    row[l] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE); // FAULT divergence
#ifdef FIXED
    if (l > 12)
        return;
    dst[get_group_id(0) * 13 + l] = row[15 - l];
#else
    dst[get_group_id(0) * 13 + l] = row[12 - l];
#endif
}
