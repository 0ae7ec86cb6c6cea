/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0), v = 0;

    if (i > 0)
        v = data[i - 1]; // FAULT race
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (i > 0)
        data[i] = v;
    dst[i] = v;
}
