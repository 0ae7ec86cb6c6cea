/* Undefined in C: uninitialised pointer; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *p; *p = 1;
}
