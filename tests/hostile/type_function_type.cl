/* Types a SHAVE does not have, or odd ones: function type. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    typedef int f(int); f *p = 0; out[0] = p == 0;
}
