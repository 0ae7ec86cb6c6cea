/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int any;
    int i = get_global_id(0);

    if (get_local_id(0) == 0)
        any = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    if (src[i] > 3)
        atomic_or(&any, 1);
#else
    if (src[i] > 3)
        any = 1; // FAULT same-write
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = any;
}
