/* Calls: struct value. */
struct s { int a[300]; }; struct s f(struct s x) { x.a[1]++; return x; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct s x; x.a[1] = n; x = f(f(x)); out[0] = x.a[1];
}
