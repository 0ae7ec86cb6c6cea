/* The pixels of a tile compete for its seed. Who gets it reads it at once, the
 * others find it taken, and behind the barrier all read it.
 *
 * ARGS --shape in0=1x1x3x24
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="24,1,1"
 * CLEAN
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local int seed;
    __local half level;
    int x = get_local_id(0), p = get_global_id(0);

    if (x == 0)
        seed = -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (atomic_cmpxchg(&seed, -1, x) == -1)
        level = src[get_group_id(0) * 24 + seed];
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[p] = x == seed ? level : src[p] - level;
}
