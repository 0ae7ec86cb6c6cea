/* Undefined in C: unreachable switch; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    switch (m) { case 0: out[0] = 1; break; case 1: out[1] = 1; break; case 2: out[2] = 3; break; case 3: out[3] = 9; break; default: __builtin_unreachable(); }
}
