/* printf: no arguments. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%d %d %d %s\n");
}
