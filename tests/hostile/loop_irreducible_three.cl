/* A loop without an end, or nearly: irreducible three. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    switch (m & 3) { case 0: goto a; case 1: goto b; default: goto c; } a: out[0]++; b: out[1]++; c: out[2]++; if (out[5]) goto b; goto a;
}
