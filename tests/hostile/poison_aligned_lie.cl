/* Undefined in C: aligned lie; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *p = __builtin_assume_aligned((__global char *)out + 1, 64); *(__global int16 *)p = (int16)(1);
}
