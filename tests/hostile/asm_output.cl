/* Inline assembly: output. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x; __asm__("mov %0, 1" : "=r"(x)); out[0] = x;
}
