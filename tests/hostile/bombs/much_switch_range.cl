/* Much of one thing: switch range. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    switch (m) { case 0 ... 0x7ffffffe: out[0] = 1; break; default: out[1] = 2; }
}
