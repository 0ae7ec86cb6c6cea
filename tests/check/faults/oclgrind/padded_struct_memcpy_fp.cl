/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x3:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="4,1,1" local="4,1,1"
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

__kernel void k(__global int *data, __global int *restrict dst,
                __local inner *scratch)
{
    int l = get_local_id(0);
    inner o;

    o.first = 1;
    o.middle = data[0];
    o.last = 3;
    if (l == 0)
        *scratch = o;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 1)
        *(__global inner *)dst = *scratch;
}
