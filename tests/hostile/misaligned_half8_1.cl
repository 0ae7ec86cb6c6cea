/* A half8 at a place 1 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global half8 *)((__global char *)out + 1) = (half8)(3); t[0] = 0; *(__local half8 *)((__local char *)t + 1) = *(__global half8 *)((__global char *)out + 1);
}
