/* Calls: kernel. */
__kernel void other(__global int *o) { o[0] = 1; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    other(out);
}
