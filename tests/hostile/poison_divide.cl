/* Undefined in C: divide; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = 5 / n + 5 % n;
}
