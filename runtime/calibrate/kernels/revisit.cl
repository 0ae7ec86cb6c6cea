/* As chase, but each second load is of the first element again: what a cache
 * throws away first. */
__kernel void revisit(__global const int *data, __global int *out, int stride,
                      int limit, int shift, int count, int offset)
{
    const __global int *mine = data + get_group_id(0) * offset;
    int i = stride;

    for (int k = 0; k < count; k++) {
        const int here = mine[i];

        i += stride + mine[here];
        if (i >= limit)
            i += shift - limit;
    }
    out[get_group_id(0)] = i;
}
