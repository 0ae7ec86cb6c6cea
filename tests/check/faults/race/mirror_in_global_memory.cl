/* Pixels of a row change places through global memory, in order.
 *
 * ARGS --shape in0=1x1x3x32:f32
 * BIND <Tensor arg-name="work" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="mirrored" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="32,1,1"
 * CLEAN
 */
__kernel void k(__global float *work, __global float *restrict mirrored)
{
    int x = get_local_id(0), w = get_local_size(0);
    __global float *row = work + get_group_id(1) * w;

    row[x] = row[x] * row[x];
    barrier(CLK_GLOBAL_MEM_FENCE);
    mirrored[get_group_id(1) * w + x] = row[w - 1 - x];
}
