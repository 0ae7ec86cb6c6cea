/* Vectors put together from parts of others: every component has a value.
 *
 * ARGS --shape in0=1x1x4x24 --shape out0=1x1x4x16
 * BIND <Tensor arg-name="rgb" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="yuyv" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y/6,1,1" local="4,1,1"
 * CLEAN
 */
half4 luma(half8 pair)
{
    half8 weighted = pair * (half8)(0.25h, 0.5h, 0.25h, 0, 0.25h, 0.5h, 0.25h, 0);
    half4 half_sums = weighted.even + weighted.odd;

    return (half4)(half_sums.s0 + half_sums.s1, half_sums.s2 + half_sums.s3, 0, 0);
}

__kernel void k(__global const half *restrict rgb, __global half *restrict yuyv)
{
    int pair = get_global_id(0);
    half3 left = vload3(2 * pair, rgb), right = vload3(2 * pair + 1, rgb);
    half4 y = luma((half8)(left, 0, right, 0)), out;

    out.xz = y.lo;
    out.y = left.z - y.x;
    out.w = right.x - y.y;
    vstore4(out, pair, yuyv);
}
