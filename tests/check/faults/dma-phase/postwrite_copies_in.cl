/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="in" type="local_data" dim="input,0" size="16*2"/>
 * BIND <Data arg-name="out" type="local_data" dim="input,0" size="16*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
#define ARGS __global const half *restrict src, __global half *restrict dst, \
             __local half *in, __local half *out

__kernel void k(ARGS)
{
    int i = get_global_id(0), l = get_local_id(0);

    out[l] = in[l] = src[i] * 2;
    dst[i] = out[l];
}

__kernel void __dma_postwrite_k(ARGS)
{
    int first = get_group_id(0) * 16;

#ifdef FIXED
    WorkGroupDmaCreateTransaction(src + first, in, 32, 0);
#else
    WorkGroupDmaCreateTransaction(dst + first, in, 32, 0); // FAULT dma-phase
#endif
}
