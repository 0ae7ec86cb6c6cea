/* The same the other way round: all look, one writes.
 *
 * ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int level;
    int l = get_local_id(0), found;

    if (l == 0)
        level = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    found = atomic_cmpxchg(&level, 5, l);
#ifdef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l == 15)
        level = 8; // FAULT race
    dst[get_global_id(0)] = src[get_global_id(0)] + found;
}
