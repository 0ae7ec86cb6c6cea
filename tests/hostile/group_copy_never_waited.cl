/* What all items do together, wrong: copy never waited. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    async_work_group_copy(t, out, 64, 0); t[1] = 2;
}
