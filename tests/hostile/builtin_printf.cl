/* A built-in of clang: printf. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_printf("%s", m);
}
