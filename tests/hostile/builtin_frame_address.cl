/* A built-in of clang: frame address. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(int *)__builtin_frame_address(0) = 3;
}
