/* What all items do together, wrong: event in loop. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = 0; for (int i = 0; i < 500; i++) e = async_work_group_copy(t, out, 4, e); wait_group_events(1, &e);
}
