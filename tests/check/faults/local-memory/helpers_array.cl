/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT local-memory
 */
#ifdef FIXED
#define N 16
#else
#define N 70000
#endif

half first_of(__global const half *src)
{
    half copy[N];

    for (int n = 0; n < N; n++)
        copy[n] = src[n & 63];
    return copy[get_global_id(0) & 15];
}

__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    dst[get_global_id(0)] = first_of(src);
}
