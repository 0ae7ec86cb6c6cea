/* A built-in of clang: ia32. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_ia32_pause();
}
