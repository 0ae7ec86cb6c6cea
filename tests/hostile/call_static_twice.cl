/* Calls: static twice. */
static int f(int x) { return x; }
int __attribute__((overloadable)) f(float x) { return x; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(1);
}
