/* ARGS --shape in0=1x1x16x16:f32 --shape in1=1x1x1x1:i32 --order all --input 1=zeros
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="sum" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * CHECK order
 * FAULT order
 */
__kernel void k(__global const float *restrict src, __global int *sum,
                __global float *restrict dst)
{
    int i = get_global_id(0), old, next;

    dst[i] = src[i];
    if (get_local_id(0))
        return;
#ifdef FIXED
    atomic_add(sum, (int)(src[i] * 1000));
#else
    /* rounds differently in another order */
    do {
        old = *(volatile __global int *)sum;
        next = as_int(as_float(old) + src[i]);
    } while (atomic_cmpxchg(sum, old, next) != old);
#endif
}
