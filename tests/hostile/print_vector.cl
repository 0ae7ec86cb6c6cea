/* printf: vector. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%v16d %v99f\n", (int4)(1), (float4)(2));
}
