/* What all items do together, wrong: wait null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    wait_group_events(3, (event_t *)0);
}
