/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK all
 */
__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    int x = get_local_id(0), y = get_group_id(0);
#ifdef FIXED
    int at = x * 4;
#else
    int at = x * 3;
#endif

    if (at <= 12)
        vstore4(vload4(0, src + y * 16 + at), 0, dst + y * 16 + at); // FAULT same-write
}
