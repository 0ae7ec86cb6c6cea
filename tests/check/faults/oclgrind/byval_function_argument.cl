/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef union {
    uint a, b;
} both;

void change(both v)
{
    v.b = 777;
}

__kernel void k(__global int *data, __global int *restrict dst)
{
    both v = {42};

    change(v);
    dst[get_global_id(0)] = v.b + data[0];
}
