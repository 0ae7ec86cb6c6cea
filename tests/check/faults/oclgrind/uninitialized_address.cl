/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int list[4] = {1, 2, 3, data[0]};
    volatile int at, from;

#ifdef FIXED
    at = from = 1;
#endif
    list[at & 3] = 4; // FAULT uninit
    dst[get_global_id(0)] = list[from & 3]; // FAULT uninit
}
