/* Inline assembly: goto. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __asm__ goto("jmp %l0" :::: l); l: out[0] = 1;
}
