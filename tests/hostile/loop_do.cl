/* A loop without an end, or nearly: do. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    do { } while (n == 0);
}
