/* ARGS --shape in0=1x1x4x16:u8 --shape out0=1x1x4x16:u8 --param up=-16
 * BIND <Tensor arg-name="src" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="dst" type="output" port-index="0" format="BFYX"/>
 * BIND <Data arg-name="rows" type="local_data" dim="input,0" size="64"/>
 * BIND <Scalar arg-name="up" type="int" source="up"/>
 * SIZE global="1,1,1" local="1,1,1"
 */
__kernel void k(__global const uchar *restrict src,
                __global uchar *restrict dst, __local uchar *rows, int up)
{
    event_t e;

    /* The last row first, in both directions. */
#ifdef FIXED
    e = WorkGroupDmaCreateStrideTransaction(src + 3 * 16, rows, 16, 16,
                                            (size_t)up, 16, 64, 0);
#else
    e = WorkGroupDmaCreateStrideTransaction( // FAULT bounds
        src + 2 * 16, rows, 16, 16, (size_t)up, 16, 64, 0);
#endif
    wait_group_events(1, &e);
    e = WorkGroupDmaCreateStrideTransaction(rows, dst + 3 * 16, 16, 16, 16,
                                            (size_t)up, 64, 0);
    wait_group_events(1, &e);
}
