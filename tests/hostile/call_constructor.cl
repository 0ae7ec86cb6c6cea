/* Calls: constructor. */
__attribute__((constructor)) void f(void) { }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = 1;
}
