/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    __global uchar *bytes = (__global uchar *)data;
#ifdef FIXED
    __global int *moved = (__global int *)(bytes + 4);
#else
    __global int *moved = (__global int *)(bytes + 2);
#endif

    dst[get_global_id(0)] = *moved; // FAULT note:align
}
