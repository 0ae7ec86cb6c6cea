/* Undefined in C: nsw index; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (int i = (int)m; i + 1 > i; i++) out[i & 7] = i;
}
