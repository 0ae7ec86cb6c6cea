/* Calls: direct. */
int f(int x) { return x ? f(x - 1) + 1 : 0; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(m);
}
