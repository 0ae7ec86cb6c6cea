/* A loop without an end, or nearly: unroll nest. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    
#pragma unroll
for (int a = 0; a < 64; a++)
#pragma unroll
for (int b = 0; b < 64; b++)
#pragma unroll
for (int c = 0; c < 64; c++) out[a + b * c]++;
}
