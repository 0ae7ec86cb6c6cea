/* Undefined in C: enum; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    enum { A, B, C } e = m; switch (e) { case A: out[0] = 1; break; case B: out[1] = 1; break; case C: out[2] = 1; }
}
