/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="row" type="local_data" dim="input,0" size="60000"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CLEAN
 */
/* A kernel with DMA phases has its local_data twice, or once where it does not
 * fit twice. */
#define ARGS __global const half *restrict src, __global half *restrict dst, \
             __local half *row

__kernel void __dma_preload_k(ARGS)
{
    WorkGroupDmaCreateTransaction(src + get_group_id(0) * 16, row, 32, 0);
}

__kernel void k(ARGS)
{
    dst[get_global_id(0)] = row[get_local_id(0)];
}
