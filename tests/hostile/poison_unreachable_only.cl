/* Undefined in C: unreachable only; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_unreachable();
}
