/* Undefined in C: clz; LLVM must make nothing of it. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[clz(n)] = 1; out[__builtin_ctz(n) << 20] = 1;
}
