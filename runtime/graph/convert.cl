/* Layout and type conversions, as kernels like any other: what they cost is
 * what the machine model says. */

/* dst[outer][col][row] = src[outer][row][col]: channel-major to channel-minor
 * with rows = channels, the way back with cols = channels. Dimension 0 runs
 * along what is written contiguously; each item reads a cache line of 64 bytes
 * contiguously, or every element would fetch a line of its own. */
#define PERMUTE(bytes, type)                                                \
    __kernel void permute_##bytes(__global const type *src,                 \
                                  __global type *dst, uint rows, uint cols) \
    {                                                                       \
        uint row = get_global_id(0), outer = get_global_id(2);              \
        uint first = get_global_id(1) * (64 / bytes);                       \
        uint end = min(first + 64 / bytes, cols);                           \
                                                                            \
        for (uint col = first; col < end; col++)                            \
            dst[(outer * cols + col) * rows + row] =                        \
                src[(outer * rows + row) * cols + col];                     \
    }

PERMUTE(1, uchar)
PERMUTE(2, ushort)
PERMUTE(4, uint)
PERMUTE(8, ulong)

#define CONVERT(from, from_type, to, to_type)                             \
    __kernel void convert_##from##_##to(__global const from_type *src,    \
                                        __global to_type *dst)            \
    {                                                                     \
        uint i = get_global_id(1) * get_global_size(0) + get_global_id(0); \
                                                                          \
        dst[i] = (to_type)src[i];                                         \
    }

CONVERT(u8, uchar, f16, half)
CONVERT(f32, float, f16, half)
CONVERT(f16, half, f32, float)
