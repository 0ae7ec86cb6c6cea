/* A long4 at a place 1 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global long4 *)((__global char *)out + 1) = (long4)(3); t[0] = 0; *(__local long4 *)((__local char *)t + 1) = *(__global long4 *)((__global char *)out + 1);
}
