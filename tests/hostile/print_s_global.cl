/* printf: s global. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%s\n", (__global char *)out);
}
