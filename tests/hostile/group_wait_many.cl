/* What all items do together, wrong: wait many. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = 0; wait_group_events(m, &e);
}
