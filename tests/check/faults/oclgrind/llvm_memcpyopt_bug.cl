/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x12:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct {
    int a, b, c;
} three;

three same(three t)
{
    return t;
}

__kernel void k(__global int *data, __global int *restrict dst)
{
    three t = {7, 8, data[0]};

    ((__global three *)dst)[get_global_id(0)] = same(t);
}
