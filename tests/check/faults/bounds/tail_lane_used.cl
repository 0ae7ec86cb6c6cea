/* ARGS --shape in0=1x1x4x16:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);
#ifdef FIXED
    int4 v = (int4)(src[i]);
#else
    int4 v = vload4(0, src + i); // FAULT bounds
#endif

    /* The lanes in front of the end are what is there: nothing follows. */
    dst[i] = 100 / (v.x == src[i]);
}
