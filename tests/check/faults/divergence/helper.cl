/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="row" type="local_data" dim="input,0" size="64"/>
 * SIZE global="16,4,1" local="16,2,1"
 * FAULT unwritten
 */
void sync_if(int wanted)
{
    if (wanted)
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // FAULT divergence
}

__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *row)
{
    int x = get_global_id(0), y = get_local_id(1), at = get_group_id(1) * 32 + y * 16 + x;

    row[y * 16 + x] = src[at];
#ifdef FIXED
    sync_if(get_group_id(1) < 2);
#else
    sync_if(y == 0);
#endif
    dst[at] = row[y * 16 + 15 - x]; // FAULT uninit
}
