/* What all items do together, wrong: event passed. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = async_work_group_copy(t, out, 4, *(event_t *)&m); wait_group_events(1, &e);
}
