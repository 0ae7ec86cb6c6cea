/* Undefined in C: shuffle; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int4 v = (int4)(1, 2, 3, 4); out[shuffle(v, (uint4)(m)).x] = 1;
}
