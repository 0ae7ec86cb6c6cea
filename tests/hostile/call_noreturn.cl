/* Calls: noreturn. */
__attribute__((noreturn)) void f(__global int *o) { o[0] = 1; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    f(out); out[1] = 2;
}
