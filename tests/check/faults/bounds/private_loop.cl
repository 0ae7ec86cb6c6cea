/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), sum = 0, best[4], id = get_local_id(0);

    for (int n = 0; n < 4; n++)
        best[n] = src[(i + n) & 63];
#ifdef FIXED
    for (int n = 0; n < 4; n++)
#else
    for (int n = 0; n <= 4; n++)
#endif
        sum += best[n]; // FAULT bounds
    best[id & 3] = sum;
    dst[i] = best[3 - (id & 3)] + sum;
}
