/* Undefined in C: uninitialised loop; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x; while (x) x--; out[0] = 1;
}
