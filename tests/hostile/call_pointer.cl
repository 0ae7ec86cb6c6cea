/* Calls: pointer. */
int f(int x) { return x; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int (*p)(int) = f; out[0] = p(3);
}
