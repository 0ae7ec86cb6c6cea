/* Undefined in C: unreachable; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (n == 0) __builtin_unreachable(); out[0] = 1;
}
