/* A int at a place 63 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)((__global char *)out + 63) = (int)(3); t[0] = 0; *(__local int *)((__local char *)t + 63) = *(__global int *)((__global char *)out + 63);
}
