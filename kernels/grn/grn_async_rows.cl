/* Global response normalisation with copies inside the kernel: grn_async.cl for
 * work-groups of several rows, in local memory sized by the binding.
 *
 * The rows of a group follow each other in DDR, so a line has no gap behind it;
 * a plane, the rows of one channel, has: the rows of the other groups. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void grn_async_rows(__global const half *restrict src,
                             __global half *restrict dst, int C, float bias,
                             __local half *restrict rows_in,
                             __local half *restrict rows_out)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int rows = get_local_size(1), tile = rows * W;
    const int first = get_group_id(2) * C * H * W + get_group_id(1) * tile;
    const int plane_gap = H * W - tile;
    const int i = get_local_id(1) * W + get_local_id(0);

    event_t copied = async_work_group_copy_3D3D(rows_in, src + first, W, rows,
                                                0, 0, C, plane_gap, 0, 0);

    wait_group_events(1, &copied);

    float sum = bias;

#pragma unroll 8
    for (int c = 0; c < C; c++) {
        const float v = (float)rows_in[c * tile + i];

        sum += v * v;
    }

    const half factor = convert_half(rsqrt(sum));

#pragma unroll 8
    for (int c = 0; c < C; c++)
        rows_out[c * tile + i] = rows_in[c * tile + i] * factor;

    barrier(CLK_LOCAL_MEM_FENCE);
    copied = async_work_group_copy_3D3D(dst + first, rows_out, W, rows, 0, 0, C,
                                        0, plane_gap, 0);
    wait_group_events(1, &copied);
}
