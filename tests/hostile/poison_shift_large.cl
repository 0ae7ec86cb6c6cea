/* Undefined in C: shift large; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = 1 << m;
}
