/* What all items do together, wrong: event forged. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e = *(event_t *)&m; wait_group_events(1, &e);
}
