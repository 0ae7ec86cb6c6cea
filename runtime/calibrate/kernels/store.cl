/* Stores to global memory, `stride` elements from one to the next; at `limit`
 * back to the beginning. A group's place begins `offset` behind the one
 * before. */
__kernel void store(__global const int *in, __global int *place, int stride,
                    int limit, int count, int offset)
{
    __global int *mine = place + get_group_id(0) * offset;
    int i = 0;

    for (int k = 0; k < count; k++) {
        mine[i] = k;
        i += stride;
        if (i >= limit)
            i -= limit;
    }
}
