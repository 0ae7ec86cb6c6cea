/* ARGS --shape in0=1x1x1x8:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
__kernel void k(__global const int2 *restrict data, __global int2 *restrict dst)
{
    int i = get_global_id(0);
    int2 v = data[i];

    dst[i] = v ? 1 : -1;
}
