/* A pointer that leads nowhere: vload half. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (int)vload_half(m, (__global half *)out);
}
