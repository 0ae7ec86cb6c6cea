/* Undefined in C: uninitialised array; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[64]; out[x[n] & 0xffffff] = 1;
}
