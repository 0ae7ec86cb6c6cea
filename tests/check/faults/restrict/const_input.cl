/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="data" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src, __global half *data,
                __global half *restrict dst)
{
    int i = get_global_id(0);

#ifdef FIXED
    dst[i] = src[i] + data[i]; /* nobody writes it */
#else
    data[i] = data[i] * 2;
    dst[i] = src[i]; // FAULT restrict
#endif
}
