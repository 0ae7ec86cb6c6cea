/* Undefined in C: widened; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (int i = 0; i < (int)n + 100; i++) out[i * 0x10000000] = i;
}
