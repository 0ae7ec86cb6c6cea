/* Undefined in C: const cast; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    const int x = 4; *(int *)&x = 9; out[x] = 1;
}
