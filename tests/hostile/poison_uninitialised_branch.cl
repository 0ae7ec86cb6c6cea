/* Undefined in C: uninitialised branch; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x; if (x) out[0] = 1; else out[1] = 2;
}
