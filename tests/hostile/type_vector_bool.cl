/* Types a SHAVE does not have, or odd ones: vector bool. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    typedef bool v __attribute__((ext_vector_type(8))); v x = 1; out[0] = x[m];
}
