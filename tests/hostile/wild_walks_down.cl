/* A pointer that leads nowhere: walks down. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < 100000; i++) out[-(int)i] = i;
}
