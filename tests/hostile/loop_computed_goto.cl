/* A loop without an end, or nearly: computed goto. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    void *l[] = {&&a, &&b}; goto *l[m & 1]; a: out[0] = 1; return; b: out[1] = 1;
}
