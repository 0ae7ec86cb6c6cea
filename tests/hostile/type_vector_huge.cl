/* Types a SHAVE does not have, or odd ones: vector huge. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    typedef int v __attribute__((ext_vector_type(4096))); v x = 0; out[0] = x[m];
}
