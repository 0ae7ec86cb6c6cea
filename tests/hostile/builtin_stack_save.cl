/* A built-in of clang: stack save. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    void *p = __builtin_stack_save(); out[0] = 1;
}
