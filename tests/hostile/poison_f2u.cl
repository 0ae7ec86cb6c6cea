/* Undefined in C: f2u; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(uint)-5.5f] = 1;
}
