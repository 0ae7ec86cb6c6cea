/* Undefined in C: bool; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    bool b = *(__global bool *)(out + 3); out[b] = 1; switch (b) { case 0: out[4] = 1; break; case 1: out[5] = 2; }
}
