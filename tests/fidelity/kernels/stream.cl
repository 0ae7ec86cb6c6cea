/* Both sides of ratio R1. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* DDR: every group fetches its own n bytes into local memory and nothing else. */
__kernel void __dma_preload_ddr_stream(__global const half *restrict src,
                                       __global half *restrict dst, int n,
                                       __local half *restrict block)
{
    WorkGroupDmaCreateStrideTransaction(src + get_group_id(0) * (n / 2), block,
                                        n, n, n, n, n, 0);
}

__kernel void ddr_stream(__global const half *restrict src,
                         __global half *restrict dst, int n,
                         __local half *restrict block)
{
}

/* Local memory: every group reads `block`, 32 KiB, `passes` times. A pointer
 * walks, so that 64 loads differ in their offset alone. */
__kernel void local_stream(__global const half *restrict src,
                           __global half *restrict dst, int passes,
                           __local half8 *restrict block)
{
    half8 a = 0, b = 0, c = 0, d = 0;

    for (int p = 0; p < passes; p++) {
        for (__local const half8 *at = block; at < block + 2048; at += 64) {
#pragma unroll
            for (int i = 0; i < 64; i += 4) {
                a += at[i];
                b += at[i + 1];
                c += at[i + 2];
                d += at[i + 3];
            }
        }
    }
    vstore8(a + b + c + d, get_group_id(0), dst);
}

/* The same by a counter and an unrolled loop. */
__kernel void local_indexed(__global const half *restrict src,
                            __global half *restrict dst, int passes,
                            __local half8 *restrict block)
{
    half8 a = 0, b = 0, c = 0, d = 0;

    for (int p = 0; p < passes; p++) {
#pragma unroll 8
        for (int i = 0; i < 2048; i += 4) {
            a += block[i];
            b += block[i + 1];
            c += block[i + 2];
            d += block[i + 3];
        }
    }
    vstore8(a + b + c + d, get_group_id(0), dst);
}

/* DDR by loads: every group reads n bytes of its own. */
__kernel void load_stream(__global const half *restrict src,
                          __global half *restrict dst, int n)
{
    __global const half *from = src + get_group_id(0) * (n / 2);
    half8 a = 0, b = 0, c = 0, d = 0;

#pragma unroll 8
    for (int i = 0; i < n / 16; i += 4) {
        a += vload8(i, from);
        b += vload8(i + 1, from);
        c += vload8(i + 2, from);
        d += vload8(i + 3, from);
    }
    vstore8(a + b + c + d, get_group_id(0), dst);
}
