/* Types a SHAVE does not have, or odd ones: complex. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    _Complex float c = n; out[0] = __real__ c;
}
