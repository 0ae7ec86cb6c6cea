/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="sum" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="same" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global int *restrict sum, __global int *same,
                __global const int *src)
{
    int i = get_global_id(0);

    sum[i] = src[i] * 3;
#ifdef FIXED
    sum[i] -= 5;
#else
    same[i] -= 5; // FAULT restrict
#endif
}
