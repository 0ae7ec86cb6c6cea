/* printf: odd more. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%llllld %q %hhhd %\xff\n", n, m, n);
}
