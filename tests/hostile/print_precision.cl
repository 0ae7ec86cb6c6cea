/* printf: precision. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%.999999999f\n", 1.0f);
}
