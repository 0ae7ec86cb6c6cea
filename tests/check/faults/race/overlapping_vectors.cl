/* ARGS --shape in0=1x1x4x16:f32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float rows[68];
    int i = get_global_id(0), l = get_local_id(0);

#ifdef FIXED
    vstore4((float4)(src[i]), l, rows);
#else
    vstore4((float4)(src[i]), 0, rows + l * 3); // FAULT race
    if (l == 0)
        rows[0] = rows[1] = rows[2] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = rows[l] + rows[l + 16];
}
