/* A long at a place 1 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global long *)((__global char *)out + 1) = (long)(3); t[0] = 0; *(__local long *)((__local char *)t + 1) = *(__global long *)((__global char *)out + 1);
}
