/* A loop without an end, or nearly: while. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    while (1) ;
}
