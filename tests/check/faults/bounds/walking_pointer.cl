/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __global const int *p = src + get_global_id(0);
    int sum = 0;

#ifdef FIXED
    for (; p < src + 64; p += 16)
#else
    for (; p <= src + 80; p += 16)
#endif
        sum += *p; // FAULT bounds
    dst[get_global_id(0)] = sum;
}
