/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    dst[(i * 5) & 63] = src[i];
#else
    dst[(i * 4) % 62] = src[i]; // FAULT rewritten
#endif
}
