/* A built-in of clang: trap. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_trap();
}
