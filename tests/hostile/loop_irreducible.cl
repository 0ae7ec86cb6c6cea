/* A loop without an end, or nearly: irreducible. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (n) goto b; a: out[0]++; if (m == 3) return; b: out[1]++; goto a;
}
