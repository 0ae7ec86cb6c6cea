/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
int scale(int v, int n)
{
    return v / n; // FAULT divide
}

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), sum = 0;

#ifdef FIXED
    for (int n = 1; n < 4; n++)
#else
    for (int n = 0; n < 4; n++)
#endif
        sum += scale(src[i], n);
    dst[i] = sum;
}
