/* Undefined in C: shift index; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[1u << m] = 1;
}
