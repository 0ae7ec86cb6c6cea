/* Loads from global memory, each at a place that the one before gives: `data`
 * holds zeros. From one to the next `stride` elements; at `limit` back to the
 * beginning and `shift` elements further. A group begins `offset` behind the
 * one before. */
__kernel void chase(__global const int *data, __global int *out, int stride,
                    int limit, int shift, int count, int offset)
{
    const __global int *mine = data + get_group_id(0) * offset;
    int i = 0;

    for (int k = 0; k < count; k++) {
        i += stride + mine[i];
        if (i >= limit)
            i += shift - limit;
    }
    out[get_group_id(0)] = i;
}
