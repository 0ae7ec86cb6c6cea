/* Calls: noinline. */
__attribute__((noinline)) int f(int x) { return x * 3; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(n);
}
