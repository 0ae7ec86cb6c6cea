/* Undefined in C: uninitialised; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x; out[x] = 1;
}
