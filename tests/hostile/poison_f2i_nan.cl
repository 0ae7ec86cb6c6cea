/* Undefined in C: f2i nan; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(int)(0.0f / n)] = 1;
}
