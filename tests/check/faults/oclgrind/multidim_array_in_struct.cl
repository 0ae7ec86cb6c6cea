/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct {
    uchar kind;
    ulong grid[2][3][1];
} cube;

__kernel void k(__global int *data, __global int *restrict dst)
{
    cube c = {1, {{{1}, {2}, {3}}, {{4}, {5}, {6}}}};
    ulong sum = data[0];

    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 1; x++)
                sum += c.grid[z][y][x];
    dst[get_global_id(0)] = (int)sum;
}
