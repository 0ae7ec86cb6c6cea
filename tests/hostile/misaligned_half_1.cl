/* A half at a place 1 bytes off its alignment. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global half *)((__global char *)out + 1) = (half)(3); t[0] = 0; *(__local half *)((__local char *)t + 1) = *(__global half *)((__global char *)out + 1);
}
