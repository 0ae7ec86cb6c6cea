/* A pointer that leads nowhere: index long. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0x100000000L + n] = 3;
}
