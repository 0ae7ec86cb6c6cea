/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0);
    int v = data[min(i + 1, 63)];

#ifdef FIXED
    dst[i] = v;
#else
    dst[i] = 0;
    data[i] = v; // FAULT group-race race
#endif
}
