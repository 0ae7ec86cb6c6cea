/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 * CLEAN
 */
typedef struct __attribute__((packed)) {
    char kind;
    int value;
} entry;

__kernel void k(__global int *data, __global int *restrict dst)
{
    entry e = {3, data[get_global_id(0)]};

    dst[get_global_id(0)] = e.value + e.kind;
}
