/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="big" type="local_data" dim="input,0" size="X*20000"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 * FAULT local-memory
 */
__kernel void k(__global const half *restrict src,
#ifndef FIXED
                __local half *big,
#endif
                __global half *restrict dst)
{
    dst[get_global_id(0)] = src[get_global_id(0)];
#ifndef FIXED
    big[get_local_id(0)] = 0;
#endif
}
