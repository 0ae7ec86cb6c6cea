/* A loop without an end, or nearly: atomic. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    while (atomic_cmpxchg(out, 1, 2) != 1) ;
}
