/* A table of the program is read from end to end.
 *
 * ARGS --shape in0=1x1x6x10 --shape out0=1x1x4x8
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X-2,Y-2,1" local="8,1,1"
 * CLEAN
 */
__constant half weight[3][3] = {
    {0, -0.25h, 0}, {-0.25h, 2, -0.25h}, {0, -0.25h, 0}};

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int x = get_global_id(0), y = get_global_id(1);
    half sum = 0;

    for (int row = 0; row < 3; row++)
        for (int col = 0; col < 3; col++)
            sum += weight[row][col] * src[(y + row) * 10 + x + col];
    dst[y * 8 + x] = sum;
}
