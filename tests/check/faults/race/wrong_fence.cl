/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="scratch" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src,
                __global int *scratch, __global int *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0), l = get_local_id(0);

    scratch[i] = src[i];
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    dst[i] = scratch[g * 16 + 15 - l]; // FAULT race
}
