/* Types a SHAVE does not have, or odd ones: bit cast. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = as_int((char4)(n)) + as_int2((double)1.0).x;
}
