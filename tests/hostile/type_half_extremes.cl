/* Types a SHAVE does not have, or odd ones: half extremes. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    half h = as_half((ushort)0x7c00); h = h - h; out[0] = as_short(h); h = (half)1e-8f / (half)n; out[1] = as_short(h);
}
