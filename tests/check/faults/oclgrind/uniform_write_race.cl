/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CHECK all
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
#ifdef FIXED
    if (get_local_id(0) == 1)
#endif
        data[0] = 5; // FAULT same-write
    dst[get_global_id(0)] = 0;
}
