/* A built-in of clang: shufflevector. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int4 v = (int4)(n); out[0] = __builtin_shufflevector(v, v, -1, 3, 7, 5).x;
}
