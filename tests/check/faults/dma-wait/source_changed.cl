/* ARGS --shape in0=1x1x4x16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="64*2"/>
 * SIZE global="32,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0), g = get_group_id(0);
    event_t e[2];

    for (int y = 0; y < 2; y++) {
        int at = (g * 2 + y) * 16;

        tile[l] = src[at + l]; // FAULT dma-wait
        barrier(CLK_LOCAL_MEM_FENCE);
        e[y] = async_work_group_copy(dst + at, tile, 16, 0);
#ifdef FIXED
        wait_group_events(1, &e[y]);
#endif
    }
#ifndef FIXED
    wait_group_events(2, e);
#endif
}
