/* ARGS --shape in0=1x1x16x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="256,1,1" local="256,1,1"
 * FAULT local-memory
 */
__kernel void k(__global const half *restrict src, __global half *restrict dst)
{
    __local half row[256];
    half own[256], sum = 0;
    int l = get_local_id(0);

    for (int n = 0; n < 256; n++)
        own[n] = src[(l + n) & 255];
    row[l] = own[0];
#ifndef FIXED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int n = 0; n < 256; n++)
        sum = max(sum, own[(n * l) & 255]);
    dst[get_global_id(0)] = sum + row[l];
}
