/* ARGS --shape in0=1x1x4x16:f32 --shape in1=1x1x4x16:f32
 * BIND <Tensor arg-name="a" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="b" type="input" port-index="1" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict a,
                __global const float *restrict b, __global float *restrict dst)
{
    int i = get_global_id(0);
    __global const float *p = i & 1 ? a : b;

#ifdef FIXED
    dst[i] = p[i];
#else
    dst[i] = p[i * 20000000]; // FAULT bounds
#endif
}
