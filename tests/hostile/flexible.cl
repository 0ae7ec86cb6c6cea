/* A flexible array member. */
struct f { int n; int a[]; };
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct f *p = (struct f *)&n; out[0] = p->a[m];
}
