/* A loop without an end, or nearly: printf. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (;;) printf("%d ", n);
}
