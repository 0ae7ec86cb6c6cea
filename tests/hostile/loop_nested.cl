/* A loop without an end, or nearly: nested. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < m; i++) for (uint j = 0; j < m; j++) for (uint l = 0; l < m; l++) for (uint o = 0; o < m; o++) t[0] += o;
}
