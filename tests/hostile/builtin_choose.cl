/* A built-in of clang: choose. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = __builtin_choose_expr(1, n, m); out[1] = __builtin_constant_p(n);
}
