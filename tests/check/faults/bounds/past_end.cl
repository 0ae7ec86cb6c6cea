/* ARGS --shape in0=1x4x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="8,1,1"
 */
#ifdef FIXED
#define NEXT(i) min(i + 1, 255)
#else
#define NEXT(i) i + 1
#endif

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int i = get_global_id(0);

    dst[i] = src[NEXT(i)]; // FAULT bounds
}
