/* Inline assembly: register. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    register int x __asm__("eax"); out[0] = x;
}
