/* A tile's ticket is put back plainly while others exchange it.
 *
 * ARGS --shape in0=1x1x4x8:i32 --shape in1=1x1x1x4:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="ticket" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="8,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *ticket,
                __global int *restrict dst)
{
    int x = get_local_id(0), tile = get_group_id(1), p = tile * 8 + x, won;

    if (x == 0)
        ticket[tile] = -1;
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    won = atomic_cmpxchg(ticket + tile, -1, x) == -1; // FAULT race
    dst[p] = won ? src[p] : 0;
}
