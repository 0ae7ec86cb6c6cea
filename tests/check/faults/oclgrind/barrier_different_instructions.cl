/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * FAULT unwritten
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    if (i == 0)
        data[0] = 42;
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    if (i == 0) {
        data[0] = 42;
        barrier(CLK_GLOBAL_MEM_FENCE);
    } else {
        barrier(CLK_GLOBAL_MEM_FENCE); // FAULT divergence
    }
#endif
    dst[i] = data[0] + i;
}
