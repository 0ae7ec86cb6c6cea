/* A loop without an end, or nearly: switch back. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int s = 0; for (;;) switch (s) { case 0: s = 1; break; case 1: s = 2; break; case 2: s = 0; }
}
