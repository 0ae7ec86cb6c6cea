/* What all items do together, wrong: divergent copy. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (get_local_id(0)) { event_t e = async_work_group_copy(t, out, 4, 0); wait_group_events(1, &e); }
}
