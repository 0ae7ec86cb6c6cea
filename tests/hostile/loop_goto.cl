/* A loop without an end, or nearly: goto. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    a: goto a;
}
