/* Structures copied whole, arrays with first values, in all orders.
 *
 * ARGS --shape in0=1x1x4x16:f32 --order all
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="16,1,1"
 * CHECK all
 * CLEAN
 */
typedef struct {
    float tap[20];
    int n;
} filter;

__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int i = get_global_id(0);
    float weight[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    filter mine, copy, zero = {{0}};

    for (int n = 0; n < 20; n++)
        mine.tap[n] = src[i] * n;
    mine.n = i;
    copy = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[i] = copy.tap[i % 20] / weight[i % 9] + convert_int_sat(src[i]) +
             clz(copy.n) + zero.tap[i % 20];
}
