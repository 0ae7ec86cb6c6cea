/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*2"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0);
    event_t e[2];

    e[0] = async_work_group_copy(tile, src, 16, 0);
    for (int y = 0; y < 4; y++) {
        if (y < 3)
            e[(y + 1) & 1] = async_work_group_copy(tile + ((y + 1) & 1) * 16, src + (y + 1) * 16, 16, 0);
        wait_group_events(1, &e[y & 1]);
#ifdef FIXED
        dst[y * 16 + l] = tile[(y & 1) * 16 + l];
#else
        dst[y * 16 + l] = tile[(y + 1 & 1) * 16 + l]; // FAULT dma-wait
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
