/* ARGS --shape in0=1x1x1x16:i32 --shape out0=1x1x1x48:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
typedef struct {
    char kind;
    int at;
    short size;
} box;

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    __global box *boxes = (__global box *)dst;
    box own;

    own.kind = 1;
    own.at = src[i];
#ifdef FIXED
    own.size = 4;
#endif
    boxes[i] = own; // FAULT uninit
}
