/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global int *data, __global int *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    int v = data[i ^ 1]; /* a neighbour in the same group */
#else
    int v = data[63 - i]; // FAULT group-race
#endif

    barrier(CLK_GLOBAL_MEM_FENCE);
    data[i] = v; // FAULT group-race
    dst[i] = v;
}
