/* Undefined in C: abs; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[abs((int)0x80000000)] = 1;
}
