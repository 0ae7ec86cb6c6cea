/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="a" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="b" type="output" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global float4 *restrict a, __global float *restrict b, __global const float *restrict src)
{
    int i = get_global_id(0);

    if (i >= 8)
        return;
    a[i] = vload4(i, src);
#ifdef FIXED
    vstore4((float4)(0), i, b + 32);
#else
    vstore4((float4)(0), i, b + 28 * (i == 7)); // FAULT restrict
    vstore4((float4)(0), i, b + 32);
#endif
}
