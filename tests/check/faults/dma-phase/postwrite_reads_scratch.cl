/* ARGS --shape in0=1x1x4x16 --shape in1=1x1x4x16 --shape out0=1x1x8x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="state" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
#define ARGS __global const half *restrict src, __global half *state, \
             __global half *restrict dst

__kernel void k(ARGS)
{
    int i = get_global_id(0);

    state[i] = src[i] * 2;
    dst[i * 2] = src[i];
}

__kernel void __dma_postwrite_k(ARGS)
{
    for (int i = get_group_id(0) * 16; i < get_group_id(0) * 16 + 16; i++)
#ifdef FIXED
        dst[i * 2 + 1] = src[i] * 2;
#else
        dst[i * 2 + 1] = state[i]; // FAULT dma-phase
#endif
}
