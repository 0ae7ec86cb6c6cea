/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x6:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="1,1,1" local="1,1,1"
 * CLEAN
 */
typedef struct {
    char first;
    int middle;
    char last;
} inner;

typedef struct {
    char first;
    int middle;
    char last;
    inner more;
} outer;

__kernel void k(__global int *data, __global int *restrict dst)
{
    outer o;

    o.first = 1;
    o.middle = data[0];
    o.last = 3;
    o.more.first = 4;
    o.more.middle = 5;
    o.more.last = 6;
    *(__global outer *)dst = o;
}
