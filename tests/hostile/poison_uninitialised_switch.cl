/* Undefined in C: uninitialised switch; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x; switch (x) { case 0: out[0] = 1; break; case 7: out[7] = 2; break; case 9: out[9]=1; break; case 11: out[11]=1; }
}
