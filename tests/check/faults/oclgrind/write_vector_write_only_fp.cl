/* ARGS --shape in0=1x1x1x16:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
__kernel void k(__global int4 *data, __global int4 *dst)
{
    int i = get_global_id(0);

    data[i].x = 42;
    dst[i].x = 1;
    dst[i].y = 2;
    dst[i].zw = 3;
}
