/* Calls: intrinsic. */
int f(int) __asm("llvm.read_register.i32");
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(1);
}
