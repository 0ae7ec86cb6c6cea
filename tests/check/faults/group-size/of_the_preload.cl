/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="row" type="local_data" dim="input,0" size="32"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT group-size
 */
#ifdef FIXED
#define SIZE 16, 1, 1
#else
#define SIZE 1, 1, 1
#endif
#define ARGS __global const half *restrict src, __global half *restrict dst, \
             __local half *row

__kernel __attribute__((reqd_work_group_size(SIZE))) void __dma_preload_k(ARGS)
{
    WorkGroupDmaCreateTransaction(src + get_group_id(0) * 16, row, 32, 0);
}

__kernel __attribute__((reqd_work_group_size(SIZE))) void k(ARGS)
{
    dst[get_global_id(0)] = row[get_local_id(0)];
}
