/* A pointer that leads nowhere: walks pages. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < 0x100000u; i++) out[i << 10] = i;
}
