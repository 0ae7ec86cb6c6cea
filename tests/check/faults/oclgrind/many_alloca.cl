/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
void up(int *x)
{
    *x += 1;
}

int one(void)
{
    int x = 0;

    up(&x);
    return x;
}

__kernel void k(__global int *data, __global int *restrict dst)
{
    int x = data[0] - data[0];

    for (int n = 0; n < 1000; n++)
        x += one();
    dst[get_global_id(0)] = x;
}
