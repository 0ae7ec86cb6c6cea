/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x8:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    dst[i + 4] = data[i];
#endif
    dst[i] = dst[i + 4]; // FAULT uninit
#ifndef FIXED
    dst[i + 4] = data[i];
#endif
}
