/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x2:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="2,1,1"
 * CLEAN
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int l = get_local_id(0), g = get_group_id(0), sum = 0;

    data[get_global_id(0)] = l + g;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0) {
        for (int n = 0; n < get_local_size(0); n++)
            sum += data[get_local_size(0) * g + n];
        dst[g] = sum;
    }
}
