/* A loop without an end, or nearly: goto two. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    a: if (n) goto b; goto a; b: goto a;
}
