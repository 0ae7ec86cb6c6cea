/* Types a SHAVE does not have, or odd ones: double. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    double x = n; out[0] = (int)(x * 1.5);
}
