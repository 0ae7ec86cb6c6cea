/* What all items do together, wrong: copy huge. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = async_work_group_copy(t, out, 0xffffffffu, 0); wait_group_events(1, &e);
}
