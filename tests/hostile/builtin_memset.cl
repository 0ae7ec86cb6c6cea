/* A built-in of clang: memset. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[4]; __builtin_memset(x, 1, m); out[0] = x[n];
}
