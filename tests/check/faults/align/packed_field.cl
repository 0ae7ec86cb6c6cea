/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
typedef struct __attribute__((packed)) {
    uchar kind;
    int value;
} entry;

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __global const entry *list = (__global const entry *)src;
    int i = get_global_id(0);

#ifdef FIXED
    dst[i] = list[i & 31].value;
#else
    __global const int *value = (__global const int *)((__global const uchar *)&list[i & 31] + 1);

    dst[i] = *value; // FAULT note:align
#endif
}
