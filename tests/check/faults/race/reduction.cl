/* ARGS --shape in0=1x1x4x16:f32 --shape out0=1x1x1x4:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float part[16];
    int l = get_local_id(0);

    part[l] = src[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 8; n > 0; n /= 2) {
        if (l < n)
            part[l] += part[l + n]; // FAULT race
#ifdef FIXED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (l == 0)
        dst[get_group_id(0)] = part[0];
}
