/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="1,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int g = get_group_id(0);

    dst[g] = data[0]; // FAULT group-race
#ifndef FIXED
    if (g == 1)
        data[0] = g; // FAULT group-race
#endif
}
