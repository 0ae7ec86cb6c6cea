/* Calls: section. */
__attribute__((section(".text.x"))) int f(int x) { return x; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(1);
}
