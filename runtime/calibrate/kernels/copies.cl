/* DMA copies to local memory: `lines` lines of `width` elements with `gap`
 * between them; `flight` of them are started before the first is waited for.
 * From one to the next `step` elements; at `limit` back to the beginning. A
 * group begins `offset` behind the one before. */
__kernel void copies(__global const int *data, __global int *out,
                     __local int *tile, int width, int lines, int gap,
                     int flight, int step, int limit, int count, int offset)
{
    int at = get_group_id(0) * offset;

    for (int k = 0; k < count; k++) {
        event_t copied = 0;

        for (int n = 0; n < flight; n++) {
            copied = async_work_group_copy_2D2D(tile, data + at, width, lines,
                                                gap, 0, copied);
            at += step;
            if (at >= limit)
                at -= limit;
        }
        wait_group_events(1, &copied);
    }
    out[get_group_id(0)] = tile[0];
}
