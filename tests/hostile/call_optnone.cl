/* Calls: optnone. */
__attribute__((noinline, optnone)) int f(int x) { return x * 3; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(n);
}
