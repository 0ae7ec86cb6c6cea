/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x4x10
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    int x = min((int)get_local_id(0), 9), y = get_group_id(0);

#ifdef FIXED
    if (get_local_id(0) > 9)
        return;
#endif
    dst[y * 10 + x] = src[y * 16 + x]; // FAULT same-write
}
