/* A loop without an end, or nearly: char. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (char c = 0; c < 200; c++) t[0] = c;
}
