/* Every second pixel leaves its column in one place.
 *
 * ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local int edge;
    int x = get_local_id(0), row = get_group_id(1) * 16;

    if (x == 0)
        edge = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x % 2)
#ifdef FIXED
        atomic_max(&edge, x);
#else
        edge = x; // FAULT race
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[row + x] = src[row + edge] - src[row + x];
}
