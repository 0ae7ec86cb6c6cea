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

/* The element (b, f, y, x) of dst = that of src, each tensor at its own pitches
 * and offset, in elements: other orders, and padding around a tensor. */
#define REORDER(bytes, type)                                                  \
    __kernel void reorder_##bytes(                                            \
        __global const type *src, __global type *dst, uint features,          \
        uint from, uint from_b, uint from_f, uint from_y, uint from_x,        \
        uint to, uint to_b, uint to_f, uint to_y, uint to_x)                  \
    {                                                                         \
        uint x = get_global_id(0), y = get_global_id(1);                      \
        uint b = get_global_id(2) / features;                                 \
        uint f = get_global_id(2) % features;                                 \
                                                                              \
        dst[to + b * to_b + f * to_f + y * to_y + x * to_x] =                 \
            src[from + b * from_b + f * from_f + y * from_y + x * from_x];    \
    }

REORDER(1, uchar)
REORDER(2, ushort)
REORDER(4, uint)
REORDER(8, ulong)

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
