/* ARGS --shape in0=1x1x4x16:f32 --shaves 1
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float sum[16];
    int i = get_global_id(0), l = get_local_id(0);

#ifdef FIXED
    sum[l] = 0;
#else
    if (get_group_id(0) == 0)
        sum[l] = 0;
#endif
    sum[l] += src[i];
    dst[i] = sum[l]; // FAULT stale-local
}
