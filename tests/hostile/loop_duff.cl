/* A loop without an end, or nearly: duff. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    uint i = 0; switch (m & 3) { do { case 3: out[i & 3]++; case 2: i++; case 1: i += 2; case 0: i--; } while (i); }
}
