/* Undefined in C: divide lanes; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = ((int4)(1) / (int4)(n)).z;
}
