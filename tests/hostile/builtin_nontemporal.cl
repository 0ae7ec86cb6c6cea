/* A built-in of clang: nontemporal. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __builtin_nontemporal_store(1, out + m);
}
