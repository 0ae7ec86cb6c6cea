/* ARGS --shape in0=1x1x4x16:i32 --shape in1=1x1x1x32:i32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="counts" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const int *restrict src, __global int *counts,
                __global int *restrict dst)
{
    int i = get_global_id(0);

    dst[i] = src[i];
#ifdef FIXED
    atomic_inc(&counts[i & 31]);
#else
    atomic_inc(&counts[i & 63]); // FAULT bounds
#endif
}
