/* What all items do together, wrong: copy over. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    async_work_group_copy(t, out, 64, 0); async_work_group_copy(out, t, 64, 0); wait_group_events(0, 0);
}
