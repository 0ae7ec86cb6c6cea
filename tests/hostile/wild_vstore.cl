/* A pointer that leads nowhere: vstore. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    vstore16((int16)(1), m, out);
}
