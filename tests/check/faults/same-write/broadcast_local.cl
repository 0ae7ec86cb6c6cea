/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float scale;
    int i = get_global_id(0);

#ifdef FIXED
    if (get_local_id(0) == 0)
#endif
        scale = src[0]; // FAULT same-write
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = src[i] * scale;
}
