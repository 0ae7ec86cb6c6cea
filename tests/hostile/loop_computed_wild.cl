/* A loop without an end, or nearly: computed wild. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    goto *(void *)m; a: out[0] = 1;
}
