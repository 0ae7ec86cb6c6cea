/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float a[16], b[16];
    __local float *from = a, *to = b;
    int i = get_global_id(0), l = get_local_id(0);

    from[l] = src[i];
    for (int n = 0; n < 3; n++) {
        __local float *other = from;

        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
        to[l] = from[(l + 1) & 15];
#else
        to[l] = to[l ^ 1] + from[(l + 1) & 15]; // FAULT race
#endif
        from = to;
        to = other;
    }
    dst[i] = from[l]; // FAULT uninit
}
