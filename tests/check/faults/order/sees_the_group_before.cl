/* ARGS --shape in0=1x1x1x16 --shape in1=1x1x1x32 --order all --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sums" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="1,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const half *restrict src, __global half *sums,
                __global half *restrict dst)
{
    int i = get_global_id(0), g = get_group_id(0);

#ifdef FIXED
    dst[i] = sums[0] + src[i];
#else
    sums[g + 1] = src[i];
    dst[i] = sums[g] + src[i];
#endif
}
