/* Undefined in C: assume; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_assume(m < 4); out[m] = 1;
}
