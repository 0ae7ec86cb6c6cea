/* ARGS --shape in0=1x1x1x4:f32 --shape out0=1x1x1x8:f32
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="1,1,1" local="1,1,1"
 */
__kernel void k(__global const float *data, __global float4 *dst)
{
    float4 v;

    v.xzw = data[0] + 1.5f;
#ifdef FIXED
    v.y = 0;
#endif
    dst[1] = fract(v, dst); // FAULT uninit
}
