/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int l = get_local_id(0);

    dst[l] = data[0];
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l == 0)
        data[0] = -1; // FAULT race
}
