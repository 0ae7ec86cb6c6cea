/* Types a SHAVE does not have, or odd ones: vector attribute. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    typedef int v __attribute__((vector_size(1024))); v x; x[m] = 1; out[0] = x[n];
}
