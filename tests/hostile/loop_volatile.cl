/* A loop without an end, or nearly: volatile. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    volatile int x = 0; while (!x) ;
}
