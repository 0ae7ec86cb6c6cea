/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x1x60
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="8,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int n = 60 / get_global_size(0), i = get_global_id(0) * n;

#ifdef FIXED
    if (get_global_id(0) == get_global_size(0) - 1)
        n = 60 - i;
#endif
    for (int k = 0; k < n; k++)
        dst[i + k] = src[i + k];
}
