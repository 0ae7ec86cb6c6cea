/* ARGS --shape in0=1x1x4x16:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="row" type="local_data" dim="input,0" size="(16+1)*4"/>
 * SIZE global="X*Y*F,1,1" local="16,1,1"
 */
__kernel void k(__global const float *restrict src,
                __global float *restrict dst, __local float *row)
{
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);

    row[l + 1] = src[i];
    if (l == 0) {
        row[0] = 0;
#ifndef FIXED
        row[n + 1] = 0; // FAULT bounds
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef FIXED
    dst[i] = row[l] + row[min(l + 2, n)];
#else
    dst[i] = row[l] + row[l + 2]; // FAULT bounds
#endif
}
