/* Undefined in C: shift negative; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (int)n >> -3;
}
