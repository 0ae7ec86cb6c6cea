/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
void split(int v, int *low, int *high)
{
    *low = v & 255;
#ifdef FIXED
    *high = 0;
#endif
    if (v > 1000)
        *high = v >> 8;
}

__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), low, high;

    split(src[i], &low, &high);
    dst[i] = low + high; // FAULT uninit
}
