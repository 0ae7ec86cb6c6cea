/* What all items do together, wrong: in switch. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    switch (get_local_id(0)) { case 0: barrier(1); break; case 1: out[0] = 1; barrier(2); }
}
