/* A built-in of clang: alloca loop. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < m; i++) { int *p = __builtin_alloca(64); p[0] = i; out[0] = p[0]; }
}
