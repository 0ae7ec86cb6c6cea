/* A loop without an end, or nearly: memory. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    while (out[3] == 0) ;
}
