/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * 16 + x;

#ifdef FIXED
    dst[at] = x || y ? src[at - 1] : (half)0;
#else
    dst[at] = src[at - 1]; // FAULT bounds
#endif
}
