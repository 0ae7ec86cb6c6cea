/* Undefined in C: divide min; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (int)0x80000000 / (int)m;
}
