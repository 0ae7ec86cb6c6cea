/* ARGS --shape in0=1x1x4x16 --shape in1=1x1x1x4:i32 --order all --input 0=ramp --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="done" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const half *restrict src, __global int *done,
                __global half *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0);

    if (get_local_id(0) == 0)
        done[g] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifdef FIXED
    dst[i] = done[g] ? src[i] : (half)0;
#else
    dst[i] = done[(g + 1) % 4] ? src[i] : (half)0;
#endif
}
