/* A built-in of clang: thread pointer. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (int)__builtin_thread_pointer();
}
