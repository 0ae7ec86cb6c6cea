/* ARGS --shape in0=1x1x1x8
 * BIND <Tensor arg-name="a" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="of_bytes" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X,1,1" local="8,1,1"
 */
/* One buffer in two units: the second item's half has a byte of the first's. */
__kernel void k(__global half *a, __global half *of_bytes, __global half *dst)
{
    __global uchar *b = (__global uchar *)of_bytes;
    int l = get_local_id(0);

    if (l == 0)
        b[1] = 1;
#ifdef FIXED
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (l == 1) {
        b[0] = 2;
        a[0] = 3; // FAULT race
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    dst[l] = a[l];
}
