/* Calls: naked. */
__attribute__((naked)) void f(void) { }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    f();
}
