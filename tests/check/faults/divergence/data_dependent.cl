/* ARGS --shape in0=1x1x4x16:i32 --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT unwritten
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int row[16];
    int i = get_global_id(0), l = get_local_id(0);

    row[l] = 0;
#ifdef FIXED
    int v = src[0];
#else
    int v = src[i];
#endif
    while (v < 20) {
        row[l] += v;
        v += 5;
        barrier(CLK_LOCAL_MEM_FENCE); // FAULT divergence
    }
    dst[i] = row[l];
}
