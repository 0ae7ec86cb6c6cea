/* Types a SHAVE does not have, or odd ones: event type. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    event_t e; out[0] = *(int *)&e;
}
