/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct {
    uchar small[1];
    ulong large[4];
} mixed;

__kernel void k(__global int *data, __global int *restrict dst)
{
    mixed a = {{9}, {8, 7, 6, 5}}, b = a;
    volatile int at = 3;

    dst[get_global_id(0)] = (int)b.large[at] + data[0];
}
