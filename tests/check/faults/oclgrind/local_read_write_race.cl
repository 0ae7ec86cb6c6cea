/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst,
                __local int *scratch)
{
    int l = get_local_id(0), sum = 0;

    scratch[l] = data[l];
#ifdef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l == 3)
        for (int n = 0; n < 4; n++)
            sum += scratch[n]; // FAULT race
    dst[l] = sum;
}
