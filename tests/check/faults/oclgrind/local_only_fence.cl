/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int l = get_local_id(0), sum = 0;

    data[l] = l;
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l == 0)
        for (int n = 0; n < get_local_size(0); n++)
            sum += data[n]; // FAULT race
    dst[l] = sum;
}
