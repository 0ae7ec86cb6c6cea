/* ARGS --shape in0=1x1x4x16:i8 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const char *restrict src, __global char *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    char d = (src[i] + 128) | 1;
#else
    char d = src[i] + 128;
#endif

    /* -128 / -1 is 128 here: char operands are ints */
    dst[i] = (char)-128 / (char)-1 + 64 / d; // FAULT divide
}
