/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float row[16];
    int i = get_global_id(0), l = get_local_id(0);
    float own[2];

    own[0] = src[i];
    if (l != 5)
        own[1] = own[0] + 1;
#ifdef FIXED
    else
        own[1] = 0;
#endif
    row[l] = own[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = row[15 - l] + own[1]; // FAULT uninit
}
