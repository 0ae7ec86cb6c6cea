/* A loop without an end, or nearly: copy. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (;;) { event_t e = async_work_group_copy(t, out, 16, 0); wait_group_events(1, &e); }
}
