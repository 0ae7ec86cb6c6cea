/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
typedef struct {
    char tag;
    int value[3];
} item;

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
    __global const item *items = (__global const item *)src;
    item own;

#ifdef FIXED
    own = items[i % 4];
#else
    own = items[i % 16 + 1]; // FAULT bounds
#endif
    dst[i] = own.value[i % 3];
}
