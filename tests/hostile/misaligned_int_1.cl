/* A int at a place 1 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)((__global char *)out + 1) = (int)(3); t[0] = 0; *(__local int *)((__local char *)t + 1) = *(__global int *)((__global char *)out + 1);
}
