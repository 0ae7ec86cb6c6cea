/* A pointer that leads nowhere: private cast. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x = 0; __private int *p = &x; p += m; *p = 4;
}
