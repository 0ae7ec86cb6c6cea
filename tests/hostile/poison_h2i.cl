/* Undefined in C: h2i; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    half h = (half)65504 * (half)4; out[(int)h] = 1;
}
