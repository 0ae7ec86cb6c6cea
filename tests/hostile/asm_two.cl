/* Inline assembly: two. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __asm__("" : "+r"(n)); out[0] = n;
}
