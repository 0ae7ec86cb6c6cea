/* Inline assembly: volatile. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __asm__ volatile("syscall" ::: "memory");
}
