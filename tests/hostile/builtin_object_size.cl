/* A built-in of clang: object size. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[4]; out[0] = __builtin_object_size(x + m, 0);
}
