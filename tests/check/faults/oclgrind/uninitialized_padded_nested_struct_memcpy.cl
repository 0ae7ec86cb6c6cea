/* ARGS --shape in0=1x1x1x4:i32 --shape out0=1x1x1x6:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="scratch" type="local_data" dim="input,0" size="64"/>
 * SIZE global="1,1,1" local="1,1,1"
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
                __local int *scratch)
{
#ifdef FIXED
    *scratch = data[0];
#endif
    outer o = {1, 2, 3, {4, *scratch, 5}};

    *(__global outer *)dst = o; // FAULT uninit
}
