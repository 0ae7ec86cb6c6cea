/* Calls: pointer table. */
int f(int x) { return x; }
int g(int x) { return x + 1; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int (*p[2])(int) = {f, g}; out[0] = p[m & 1](3);
}
