/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT group-size
 */
#ifdef FIXED
#define SIZE 16, 1, 1
#else
#define SIZE 8, 1, 1
#endif

__kernel __attribute__((reqd_work_group_size(SIZE)))
void k(__global const half *restrict src, __global half *restrict dst);

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    dst[get_global_id(0)] = src[get_global_id(0)];
}
