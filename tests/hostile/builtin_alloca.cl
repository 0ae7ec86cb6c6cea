/* A built-in of clang: alloca. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int *p = __builtin_alloca(m); p[n] = 1; out[0] = p[n];
}
