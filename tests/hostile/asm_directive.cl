/* Inline assembly: directive. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __asm__(".incbin \"/etc/passwd\"");
}
