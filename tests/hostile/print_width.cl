/* printf: width. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%999999999d\n", n);
}
