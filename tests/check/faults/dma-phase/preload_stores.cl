/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x4x17
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="in" type="local_data" dim="input,0" size="16*2"/>
 * BIND <Data arg-name="out" type="local_data" dim="input,0" size="16*2"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
#define ARGS __global const half *restrict src, __global half *restrict dst, \
             __local half *in, __local half *out

__kernel void __dma_preload_k(ARGS)
{
    int g = get_group_id(0);

    WorkGroupDmaCreateTransaction(src + g * 16, in, 32, 0);
#ifndef FIXED
    dst[g * 17 + 16] = 0; // FAULT dma-phase
#endif
}

__kernel void k(ARGS)
{
    int g = get_group_id(0), l = get_local_id(0);

    dst[g * 17 + l] = in[l];
#ifdef FIXED
    if (l == 0)
        dst[g * 17 + 16] = 0;
#endif
    out[l] = 0;
}
