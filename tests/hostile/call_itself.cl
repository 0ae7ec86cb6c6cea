/* Calls: itself. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    k(out, n, m, t);
}
