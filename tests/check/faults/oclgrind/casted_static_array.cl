/* ARGS --shape in0=1x1x1x4:i32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="4,1,1" local="4,1,1"
 */
typedef union {
    short s;
    int i;
} number;

typedef struct {
    number grid[5][3][2];
    int behind[40];
} state;

int of(const state *p, int y)
{
    return p->grid[y][0][1].s; // FAULT bounds
}

__kernel void k(__global int *data, __global int *restrict dst)
{
    state here = {{{{{1}, {2}}}}, {3}}, copy;
    int sum = data[0];

    copy = here;
#ifdef FIXED
    for (int y = 0; y < 5; y++)
#else
    for (int y = 0; y < 9; y++)
#endif
        sum += of(&copy, y);
    dst[get_global_id(0)] = sum;
}
