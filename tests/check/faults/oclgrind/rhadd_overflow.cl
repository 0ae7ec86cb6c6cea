/* ARGS --shape in0=1x1x1x16:u8
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
__kernel void k(__global const uchar4 *restrict data, __global uchar4 *restrict dst)
{
    int i = get_global_id(0);

    dst[i] = rhadd(data[i], (uchar4)(255));
}
