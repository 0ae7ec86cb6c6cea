/* A built-in of clang: memmove. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[64]; __builtin_memmove(x + m, x, m); out[0] = x[n];
}
