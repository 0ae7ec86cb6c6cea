/* Types a SHAVE does not have, or odd ones: vector conversion. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = (int)convert_char16_sat_rte(convert_float16((int16)(m))).s5;
}
