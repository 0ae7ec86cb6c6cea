/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x1:i32 --order all --input 0=ramp --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="next" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const int *restrict src, __global int *next,
                __global int *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    int slot = atomic_inc(next) * 0 + i;
#else
    int slot = atomic_inc(next);
#endif
    dst[slot] = src[i];
}
