/* Undefined in C: nsw; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int i = 0x7ffffff0; do { out[(i & 15)] = i; i++; } while (i > 0);
}
