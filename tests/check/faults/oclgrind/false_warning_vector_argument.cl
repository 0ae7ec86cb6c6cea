/* ARGS --shape in0=1x1x1x16:i32 --shape out0=1x1x1x8:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="1,1,1" local="1,1,1"
 * CLEAN
 */
__kernel void k(__global const int16 *restrict data, __global int *restrict dst)
{
    int8 v = (int8)(1, 2, 3, 4, 5, 6, 7, 8);
    int16 sum = data[0] + v.s0011223344556677;

    vstore8(sum.lo, 0, dst);
}
