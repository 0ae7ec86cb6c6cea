/* Types a SHAVE does not have, or odd ones: union. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    union { float f; __global int *p; ulong l; } u; u.l = m; *u.p = 1;
}
