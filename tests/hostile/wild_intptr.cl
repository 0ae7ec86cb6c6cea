/* A pointer that leads nowhere: intptr. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    intptr_t p = (intptr_t)out; p ^= -1; *(__global int *)p = 1;
}
