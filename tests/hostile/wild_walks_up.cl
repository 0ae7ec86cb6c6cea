/* A pointer that leads nowhere: walks up. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < 0x7fffffffu; i++) out[i] = i;
}
