/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    __local int row[4];
    int l = get_local_id(0);

#ifdef FIXED
    row[l] = data[l];
#else
    if (l == 2)
        row[l] = data[l];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[l] = row[l ^ 1]; // FAULT uninit
}
