/* Undefined in C: restrict lie; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *restrict a = out, *restrict b = out; a[0] = 1; b[0] = 2; out[1] = a[0];
}
