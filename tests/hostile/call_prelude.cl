/* Calls: prelude. */
void __vpu_dma(int);
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __vpu_dma(1);
}
