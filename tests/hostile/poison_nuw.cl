/* Undefined in C: nuw; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = m - 8; i >= 8; i++) out[i] = i;
}
