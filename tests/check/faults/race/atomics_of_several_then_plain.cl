/* An item adds twice behind others' additions, and reads plainly.
 *
 * ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int n;
    int l = get_local_id(0), seen = 0;

    if (l == 0)
        n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 3)
        atomic_inc(&n);
    if (l == 2)
        atomic_inc(&n);
#ifdef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l == 2)
        seen = n; // FAULT race
    dst[get_global_id(0)] = src[get_global_id(0)] + seen;
}
