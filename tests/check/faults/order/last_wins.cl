/* ARGS --shape in0=1x1x4x16:i32 --shape out0=1x1x1x1:i32 --order all --input 0=ramp
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const int *restrict src, __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    if (i == 0)
#endif
    if (get_local_id(0) == 0)
        dst[0] = src[i];
}
