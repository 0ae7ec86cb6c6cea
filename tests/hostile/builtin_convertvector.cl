/* A built-in of clang: convertvector. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = __builtin_convertvector((float4)(1e30f), int4).x;
}
