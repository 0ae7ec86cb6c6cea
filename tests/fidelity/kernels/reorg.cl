/* Space to depth with three integer divisions an item, where kernels/reorg has
 * six: quotients give their remainders by a multiplication. What happens to
 * items behind the end of a row: CHECK 0 nothing, there are none; 1 they take
 * the last element once more; 2 they return. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_three(__global const half *restrict src,
                          __global half *restrict dst, int C, int W, int stride)
{
#if CHECK == 1
    const int x = min((int)get_global_id(0), W - 1);
#else
    const int x = get_global_id(0);
#endif
#if CHECK == 2
    if (x >= W)
        return;
#endif
    const int y = get_global_id(1), H = get_global_size(1);
    const int plane = get_global_id(2);
    const int b = plane / (C * stride * stride);
    const int channel = plane - b * C * stride * stride;
    const int tile = channel / C, c = channel - tile * C;
    const int row = tile / stride, column = tile - row * stride;

    dst[(plane * H + y) * W + x] =
        src[((b * C + c) * H * stride + y * stride + row) * W * stride +
            x * stride + column];
}
