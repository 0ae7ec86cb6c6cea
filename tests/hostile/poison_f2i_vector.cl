/* Undefined in C: f2i vector; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[convert_int4((float4)(1e30f)).x] = 1;
}
