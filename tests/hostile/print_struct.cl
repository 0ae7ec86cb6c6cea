/* printf: struct. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct { int a[9]; } s; printf("%d", s);
}
