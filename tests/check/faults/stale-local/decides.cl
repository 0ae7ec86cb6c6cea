/* ARGS --shape in0=1x1x4x16:i32 --shaves 1
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    __local int done[16];
    int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);

    if (g == 0)
        done[l] = 0;
#ifdef FIXED
    else
        done[l] = 0;
#endif
    if (done[l] == 0) { // FAULT stale-local
        done[l] = 1;
        dst[i] = src[i];
    } else
        dst[i] = 0;
}
