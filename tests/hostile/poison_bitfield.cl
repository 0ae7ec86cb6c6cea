/* Undefined in C: bitfield; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct { int a : 3; uint b : 31; } s; s.b = m; out[s.b] = 1;
}
