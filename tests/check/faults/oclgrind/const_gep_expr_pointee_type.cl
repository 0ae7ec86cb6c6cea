/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct {
    int first;
    long second;
} wide;

wide make(void)
{
    wide w = {3};

    w.first;
    return w;
}

__kernel void k(__global int *data, __global int *restrict dst)
{
    dst[get_global_id(0)] = make().first + data[0];
}
