/* Types a SHAVE does not have, or odd ones: sampler. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    const sampler_t s = 0; out[0] = 1;
}
