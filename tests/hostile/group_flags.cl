/* What all items do together, wrong: flags. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    barrier(0); barrier(0xffffffff); barrier(m); mem_fence(99);
}
