/* Calls: pure lie. */
__attribute__((const)) int f(__global int *o) { return o[0]++; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[f(out) & 7] = f(out);
}
