/* Calls: hook. */
void vpu_hook_flush(void *, void *);
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    vpu_hook_flush(0, 0);
}
