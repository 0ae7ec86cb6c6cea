/* printf: positional. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%9$d %1$s\n", n);
}
