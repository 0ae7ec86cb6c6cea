/* ARGS --shape in0=1x1x1x4:i32 --input 0=ramp
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int list[4];

    for (int n = 0; n < 4; n++)
#ifdef FIXED
        list[n] = data[n];
#else
        list[data[n] / 2] = n;
#endif
    for (int n = get_global_id(0); n < 4; n += get_global_size(0))
        dst[n] = list[n]; // FAULT uninit
}
