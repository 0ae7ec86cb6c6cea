/* printf: s wild. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    printf("%s", (__constant char *)m);
}
