/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0), seen = 0;

    if (i == 0)
        data[0] = -5;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i != 3)
        atomic_cmpxchg(data, -5 - i, i);
    else
#ifdef FIXED
        seen = atomic_or(data, 0);
#else
        seen = data[0]; // FAULT race
#endif
    dst[i] = seen;
}
