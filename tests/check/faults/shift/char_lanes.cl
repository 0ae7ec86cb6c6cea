/* ARGS --shape in0=1x1x4x16:u8
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const uchar *restrict src, __global uchar *restrict dst)
{
    int i = get_global_id(0);
    uchar4 v = (uchar4)(src[i]);
#ifdef FIXED
    uchar4 by = (uchar4)(0, 2, 4, 6);
#else
    uchar4 by = (uchar4)(0, 3, 6, (uchar)(9 + i % 2));
#endif

    v = v >> by; // FAULT shift
    /* a scalar uchar is an int here: 9 is no mistake */
    dst[i] = v.x + v.y + v.z + v.w + (src[i] >> 9);
}
