/* Calls: no value. */
int f(int x) { if (x > 3) return 1; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[f(n)] = 1;
}
