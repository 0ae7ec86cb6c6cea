/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0), v = i == 7 ? INT_MIN : src[i];
#ifdef FIXED
    int d = v == INT_MIN ? 1 : -1;
#else
    int d = i & 1 ? -1 : 1;
#endif

    dst[i] = v / d; // FAULT divide
}
