/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CLEAN
 */
typedef struct {
    uchar first;
    half8 v;
} __attribute__((packed)) entry;

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);
    entry table[3];

    for (int n = 0; n < 3; n++) {
        table[n].first = (uchar)n;
        table[n].v = (half8)(src[i]);
    }
    dst[i] = table[i % 3].v.s5 + table[(i + 1) % 3].first;
}
