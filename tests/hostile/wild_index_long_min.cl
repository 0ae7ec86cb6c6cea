/* A pointer that leads nowhere: index long min. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(long)0x8000000000000000L + n] = 3;
}
