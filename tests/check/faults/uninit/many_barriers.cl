/* CLEAN
 * ARGS --shape in0=1x1x512x1024
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="X,Y,1"
 *
 * So many work-items leave few numbers for the intervals between barriers: they
 * begin again, and what was written before is still known to be written.
 */
#define FOUR(x) x x x x
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_local_id(1) * 1024 + get_local_id(0);
    __local half shared[1];

    if (i == 0)
        shared[0] = src[0];
    FOUR(FOUR(FOUR(barrier(CLK_LOCAL_MEM_FENCE);)))
    dst[i] = shared[0];
}
