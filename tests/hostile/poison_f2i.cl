/* Undefined in C: f2i; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(int)1e30f] = 1;
}
