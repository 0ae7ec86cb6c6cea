/* Undefined in C: lane; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int4 v = (int4)(1); out[0] = ((__private int *)&v)[m];
}
