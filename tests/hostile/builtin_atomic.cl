/* A built-in of clang: atomic. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = __atomic_fetch_add(out, 1, __ATOMIC_SEQ_CST); __sync_synchronize();
}
