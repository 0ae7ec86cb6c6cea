/* What all items do together, wrong: copy null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = async_work_group_copy((__local int *)0, (__global int *)0, 64, 0); wait_group_events(1, &e);
}
