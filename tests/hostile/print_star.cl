/* printf: star. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%*.*d\n", n, m, 3);
}
