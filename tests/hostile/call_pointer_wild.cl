/* Calls: pointer wild. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    ((void (*)(void))m)();
}
