/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,Y,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int x = get_global_id(0), y = get_global_id(1), at = y * 16 + x;

    if (x > 0 && x < 15)
        dst[at] = (src[at - 1] + src[at] + src[at + 1]) / 3;
#ifdef FIXED
    else
        dst[at] = src[at];
#endif
}
