/* A pointer that leads nowhere: end vector read. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (*(__global int16 *)0xffffffc1u).s3;
}
