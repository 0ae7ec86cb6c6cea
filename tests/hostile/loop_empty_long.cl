/* A loop without an end, or nearly: empty long. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (ulong i = 0; i < 0xffffffffffffUL; i++) ;
}
