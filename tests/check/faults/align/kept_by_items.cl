/* What items keep across a barrier lies as it was declared, in groups of any
 * size.
 *
 * ARGS --shape in0=1x1x4x15:f32
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * SIZE global="X*Y,1,1" local="15,1,1"
 * CLEAN
 */
float sum(const float4 *p)
{
    float4 s = p[0] + p[1];

    return s.x + s.y + s.z + s.w;
}

__kernel void k(__global const float *restrict src, __global float *restrict dst)
{
    __local float row[15];
    int l = get_local_id(0), i = get_global_id(0);
    char counts[5];
    float16 wide[2];
    float4 taps[3];
    long totals[3];

    row[l] = src[i];
    for (int n = 0; n < 5; n++)
        counts[n] = l + n;
    for (int n = 0; n < 3; n++) {
        taps[n] = src[i] + n;
        totals[n] = n * l;
    }
    wide[0] = src[i];
    wide[1] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool more = row[14 - l] > row[l];
    dst[i] = sum(more ? taps : taps + 1) + (more ? wide : wide + 1)->s7 +
             *(more ? totals : totals + 2) + counts[l % 5];
}
