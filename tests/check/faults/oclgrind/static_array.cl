/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
typedef struct {
    int first;
    char rest[2];
} pair;

__kernel void k(__global int *data, __global int *restrict dst)
{
    volatile pair p = {1, {2, 3}};
    int i = get_global_id(0);

#ifdef FIXED
    int at = i & 1;
#else
    int at = i;
#endif
    p.rest[at] = data[i]; // FAULT bounds
    dst[i] = p.rest[at]; // FAULT bounds
}
