/* Global response normalisation with copies inside the kernel, the way of the
 * 2021 releases: destination first, lengths in elements, and after each line
 * the gap that is skipped.
 *
 * A work-group is one image row. Every item of it meets both copies and waits
 * for them; the barrier keeps the copy out from starting before all items have
 * stored their pixels. The arrays are the work-group's, of a fixed size: rows
 * of up to ROW_MAX elements of all channels together. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ROW_MAX 12288

__kernel void grn_async(__global const half *restrict src,
                        __global half *restrict dst, int C, float bias)
{
    __local half row_in[ROW_MAX], row_out[ROW_MAX];

    const int W = get_global_size(0), H = get_global_size(1);
    const int first = get_group_id(2) * C * H * W + get_group_id(1) * W;
    const int gap = H * W - W; /* from the end of a row to the next channel's */
    const int x = get_local_id(0);

    event_t copied =
        async_work_group_copy_2D2D(row_in, src + first, W, C, gap, 0, 0);

    wait_group_events(1, &copied);

    float sum = bias;

#pragma unroll 8
    for (int c = 0; c < C; c++) {
        const float v = (float)row_in[c * W + x];

        sum += v * v;
    }

    const half factor = convert_half(rsqrt(sum));

#pragma unroll 8
    for (int c = 0; c < C; c++)
        row_out[c * W + x] = row_in[c * W + x] * factor;

    barrier(CLK_LOCAL_MEM_FENCE);
    copied = async_work_group_copy_2D2D(dst + first, row_out, W, C, 0, gap, 0);
    wait_group_events(1, &copied);
}
