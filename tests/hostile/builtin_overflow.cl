/* A built-in of clang: overflow. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int r; out[0] = __builtin_mul_overflow(n, m, &r); out[r] = 1;
}
