/* ARGS --shape in0=1x1x4x16:i16 --shape out0=1x3x4x16:i16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
/* Bytes of a vector of shorts are moved: a byte is as defined as the element
 * that it is of, and an element as all of its bytes. */
__kernel void k(__global const short *restrict src, __global short *restrict dst)
{
    int i = get_global_id(0);
    short8 v, w;
    int2 wide;

    v.s0 = src[i];
    v.s2 = src[i] + 1;
    w = as_short8(as_uchar16(v).s4054f67289abcde3);
    dst[3 * i] = w.s0 + w.s1;
    wide = as_int2(w.s0101);
    dst[3 * i + 1] = (short)(wide.x ^ as_int4(v.s00224466).y);
#ifdef FIXED
    dst[3 * i + 2] = w.s0;
#else
    dst[3 * i + 2] = w.s2; // FAULT uninit
#endif
}
