/* Undefined in C: fast; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    float x = as_float(0x7fc00000); out[x > 1 ? 1 : (int)x] = 2;
}
