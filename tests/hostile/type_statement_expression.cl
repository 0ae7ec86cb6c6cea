/* Types a SHAVE does not have, or odd ones: statement expression. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = ({ int x[9]; x[m] = 3; x[n]; });
}
