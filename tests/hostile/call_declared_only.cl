/* Calls: declared only. */
int nosuch(int);
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = nosuch(1);
}
