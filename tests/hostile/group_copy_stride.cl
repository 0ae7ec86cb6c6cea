/* What all items do together, wrong: copy stride. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = async_work_group_strided_copy(t, out, 1000, m, 0); wait_group_events(1, &e);
}
