/* A pointer that leads nowhere: struct end. */
struct big { int a[32]; };
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global struct big *)0xffffffc0u = *(__global struct big *)out;
}
