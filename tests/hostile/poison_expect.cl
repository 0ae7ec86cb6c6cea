/* Undefined in C: expect; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (__builtin_expect(n, 1)) out[0] = 1; else out[m & 7] = 2;
}
