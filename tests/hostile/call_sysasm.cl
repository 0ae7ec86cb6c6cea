/* Calls: sysasm. */
int f(int) __asm("getpid");
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(1);
}
