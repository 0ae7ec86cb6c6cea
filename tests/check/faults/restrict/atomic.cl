/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="a" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="b" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global int *restrict a, __global int *b, __global const int *restrict src)
{
    int i = get_global_id(0);

    a[i] = src[i];
#ifdef FIXED
    atomic_add(&a[i], 1);
#else
    atomic_add(&b[i], 1); // FAULT restrict
#endif
}
