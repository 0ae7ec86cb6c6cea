/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int sum;
    int i = get_global_id(0), l = get_local_id(0);
#ifdef FIXED
    int n = get_group_id(0) + 1;
#else
    int n = (l & 1) + 1;
#endif

    if (l == 0)
        sum = 0;
    for (int k = 0; k < n; k++) {
        barrier(CLK_LOCAL_MEM_FENCE); // FAULT divergence
        atomic_add(&sum, src[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = sum;
}
