/* A built-in of clang: memcpy. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_memcpy((void *)(__private int *)0, (void *)m, m);
}
