/* A pointer that leads nowhere: vload. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = vload16(m, out).s5;
}
