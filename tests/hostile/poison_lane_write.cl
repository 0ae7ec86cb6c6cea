/* Undefined in C: lane write; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int16 v = (int16)(n); ((__private int *)&v)[m] = 3; out[0] = v.s7;
}
