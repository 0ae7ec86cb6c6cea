/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT local-memory
 */
#ifdef FIXED
#define N 1024
#else
#define N 200000
#endif

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half big[N];
    int i = get_global_id(0), l = get_local_id(0);

    big[l] = src[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = big[15 - l];
}
