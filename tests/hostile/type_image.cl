/* Types a SHAVE does not have, or odd ones: image. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __private int *p = 0; out[0] = sizeof(image2d_t);
}
