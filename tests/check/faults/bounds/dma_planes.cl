/* ARGS --shape in0=1x1x4x16 --shape out0=1x1x1x8
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="tile" type="local_data" dim="input,0" size="36*2"/>
 * SIZE global="16,1,1" local="16,1,1"
 */
__kernel void k(__global const half *restrict src,
                __global half *restrict dst, __local half *tile)
{
    int l = get_local_id(0);
    /* 2 planes of 2 lines of 8, 4 elements between planes. */
#ifdef FIXED
    event_t e = async_work_group_copy_3D3D(tile, src, 8, 2, 8, 0, 2, 0, 4, 0);
#else
    event_t e = async_work_group_copy_3D3D(tile, src, 8, 2, 8, 0, 2, 0, 8, 0); // FAULT bounds
#endif

    wait_group_events(1, &e);
    if (l < 8)
#ifdef FIXED
        dst[l] = tile[l] + tile[l + 20];
#else
        dst[l] = tile[l] + tile[l + 24];
#endif
}
