/* What stands in front of a kernel on an OpenCL device: the VPU's own functions
 * in OpenCL C 1.2, and halves as floats where __VPU_PROMOTE is defined. Their
 * meaning is sim/builtins/prelude.cl's. The kernel's own words become the names
 * beginning with __vpu_ before it comes here (opencl_text.c): macros of the
 * standard's names would meet those of the driver. */
#pragma OPENCL FP_CONTRACT OFF
#ifndef __VPU_PROMOTE
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

/* The VPU loads vectors from any element's address. */
#define __vpu_vectors(T)                                              \
    typedef T##2 __vpu_##T##2 __attribute__((aligned(sizeof(T))));    \
    typedef T##3 __vpu_##T##3 __attribute__((aligned(sizeof(T))));    \
    typedef T##4 __vpu_##T##4 __attribute__((aligned(sizeof(T))));    \
    typedef T##8 __vpu_##T##8 __attribute__((aligned(sizeof(T))));    \
    typedef T##16 __vpu_##T##16 __attribute__((aligned(sizeof(T))));

__vpu_vectors(char) __vpu_vectors(uchar) __vpu_vectors(short)
__vpu_vectors(ushort) __vpu_vectors(int) __vpu_vectors(uint)
__vpu_vectors(long) __vpu_vectors(ulong) __vpu_vectors(float)
#ifndef __VPU_PROMOTE
typedef half __vpu_half;
__vpu_vectors(half)
#else
typedef float __vpu_half;
typedef __vpu_float2 __vpu_half2;
typedef __vpu_float3 __vpu_half3;
typedef __vpu_float4 __vpu_half4;
typedef __vpu_float8 __vpu_half8;
typedef __vpu_float16 __vpu_half16;

/* Rounding modes mean nothing here: nothing is rounded. */
#define __vpu_vload_half(i, p) ((float)(p)[i])
#define __vpu_vload_half2(i, p) vload2(i, p)
#define __vpu_vload_half3(i, p) vload3(i, p)
#define __vpu_vload_half4(i, p) vload4(i, p)
#define __vpu_vload_half8(i, p) vload8(i, p)
#define __vpu_vload_half16(i, p) vload16(i, p)
#define __vpu_vloada_half(i, p) ((float)(p)[i])
#define __vpu_vloada_half2(i, p) vload2(i, p)
#define __vpu_vloada_half3(i, p) vload3(0, (p) + 4 * (i))
#define __vpu_vloada_half4(i, p) vload4(i, p)
#define __vpu_vloada_half8(i, p) vload8(i, p)
#define __vpu_vloada_half16(i, p) vload16(i, p)
#define __vpu_vstore_half(v, i, p) ((void)((p)[i] = (v)))
#define __vpu_vstore_half2(v, i, p) vstore2(v, i, p)
#define __vpu_vstore_half3(v, i, p) vstore3(v, i, p)
#define __vpu_vstore_half4(v, i, p) vstore4(v, i, p)
#define __vpu_vstore_half8(v, i, p) vstore8(v, i, p)
#define __vpu_vstore_half16(v, i, p) vstore16(v, i, p)
#define __vpu_vstorea_half(v, i, p) ((void)((p)[i] = (v)))
#define __vpu_vstorea_half2(v, i, p) vstore2(v, i, p)
#define __vpu_vstorea_half3(v, i, p) vstore3(v, 0, (p) + 4 * (i))
#define __vpu_vstorea_half4(v, i, p) vstore4(v, i, p)
#define __vpu_vstorea_half8(v, i, p) vstore8(v, i, p)
#define __vpu_vstorea_half16(v, i, p) vstore16(v, i, p)

#define __vpu_HALF_DIG 3
#define __vpu_HALF_MANT_DIG 11
#define __vpu_HALF_MAX_10_EXP +4
#define __vpu_HALF_MAX_EXP +16
#define __vpu_HALF_MIN_10_EXP -4
#define __vpu_HALF_MIN_EXP -13
#define __vpu_HALF_RADIX 2
#define __vpu_HALF_MAX 65504.0f
#define __vpu_HALF_MIN 0x1.0p-14f
#define __vpu_HALF_EPSILON 0x1.0p-10f
#define __vpu_M_E_H M_E_F
#define __vpu_M_LOG2E_H M_LOG2E_F
#define __vpu_M_LOG10E_H M_LOG10E_F
#define __vpu_M_LN2_H M_LN2_F
#define __vpu_M_LN10_H M_LN10_F
#define __vpu_M_PI_H M_PI_F
#define __vpu_M_PI_2_H M_PI_2_F
#define __vpu_M_PI_4_H M_PI_4_F
#define __vpu_M_1_PI_H M_1_PI_F
#define __vpu_M_2_PI_H M_2_PI_F
#define __vpu_M_2_SQRTPI_H M_2_SQRTPI_F
#define __vpu_M_SQRT2_H M_SQRT2_F
#define __vpu_M_SQRT1_2_H M_SQRT1_2_F
#endif

#define __vpu_over static __attribute__((overloadable))

#ifdef __VPU_MIN_MAX
/* The VPU's size_t has 32 bits, so kernels mix it with uint. A set of our own:
 * where a driver's compiler makes up the standard's functions as they are
 * called, another function of their name would hide them. */
#define __vpu_mixed(N, F)                                                   \
    __vpu_over ulong N(ulong a, uint b) { return F(a, (ulong)b); } \
    __vpu_over ulong N(uint a, ulong b) { return F((ulong)a, b); } \
    __vpu_over ulong N(ulong a, int b)                           \
    {                                                                    \
        return F(a, (ulong)(uint)b);                                     \
    }                                                                    \
    __vpu_over ulong N(int a, ulong b)                           \
    {                                                                    \
        return F((ulong)(uint)a, b);                                     \
    }
#define __vpu_min_max_v(N, F, T, V)                            \
    __vpu_over V N(V a, V b) { return F(a, b); }    \
    __vpu_over V N(V a, T b) { return F(a, (V)(b)); }
#define __vpu_min_max(N, F, T)                                 \
    __vpu_over T N(T a, T b) { return F(a, b); }    \
    __vpu_min_max_v(N, F, T, T##2) __vpu_min_max_v(N, F, T, T##3) \
    __vpu_min_max_v(N, F, T, T##4) __vpu_min_max_v(N, F, T, T##8) \
    __vpu_min_max_v(N, F, T, T##16)
#define __vpu_min_max_all(N, F)                              \
    __vpu_mixed(N, F)                                        \
    __vpu_min_max(N, F, char) __vpu_min_max(N, F, uchar)        \
    __vpu_min_max(N, F, short) __vpu_min_max(N, F, ushort)      \
    __vpu_min_max(N, F, int) __vpu_min_max(N, F, uint)          \
    __vpu_min_max(N, F, long) __vpu_min_max(N, F, ulong)        \
    __vpu_min_max(N, F, float)
/* Drivers may have macros of these names. */
__vpu_min_max_all(__vpu_min, min) __vpu_min_max_all(__vpu_max, max)
#ifndef __VPU_PROMOTE
__vpu_min_max(__vpu_min, min, half) __vpu_min_max(__vpu_max, max, half)
#endif
#endif

#define __vpu_all barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#ifdef __VPU_COPIES /* the kernel has some; compiling them takes time */
/* --- copies ------------------------------------------------------------- */

/* n bytes a plane; both sides walk their own lines. Item `first` of `step`
 * copies every step-th piece. */
#define __vpu_walk(T, S, D, size)                                            \
    for (size_t p = 0; p < planes; p++) {                                    \
        S const uchar *s = src + p * src_plane;                              \
        D uchar *d = dst + p * dst_plane;                                    \
        for (size_t i = first * size; i < n; i += step * size)               \
            *(D T *)(d + i / dst_width * dst_pitch + i % dst_width) =        \
                *(S const T *)(s + i / src_width * src_pitch +               \
                               i % src_width);                               \
    }
#define __vpu_engine(S, D)                                                   \
    __vpu_over void __vpu_move(S const uchar *src, D uchar *dst,             \
                               size_t src_width, size_t dst_width,           \
                               size_t src_pitch, size_t dst_pitch,           \
                               size_t planes, size_t src_plane,              \
                               size_t dst_plane, size_t n, size_t first,     \
                               size_t step)                                  \
    {                                                                        \
        if (!src_width || !dst_width)                                        \
            return;                                                          \
        if (((size_t)src | (size_t)dst | src_width | dst_width | src_pitch | \
             dst_pitch | src_plane | dst_plane | n) % 4 == 0)                \
            __vpu_walk(uint, S, D, 4)                                        \
        else                                                                 \
            __vpu_walk(uchar, S, D, 1)                                       \
    }
__vpu_engine(__global, __local) __vpu_engine(__local, __global)
__vpu_engine(__global, __private) __vpu_engine(__private, __global)

#define __vpu_items (get_local_size(0) * get_local_size(1) * get_local_size(2))
#define __vpu_item                                                     \
    ((get_local_id(2) * get_local_size(1) + get_local_id(1)) *         \
         get_local_size(0) + get_local_id(0))

typedef uint __vpu_event_t;
typedef uint item_dma_event_t;
#define __vpu_wait_group_events(n, events) ((void)(n), (void)(events), __vpu_all)
#define WaitWorkItemDmaEvents(n, events) ((void)(n), (void)(events))

#define __vpu_group(src, dst, sw, dw, sp, dp, planes, spp, dpp, n)         \
    __vpu_all;                                                             \
    __vpu_move(src, dst, sw, dw, sp, dp, planes, spp, dpp, n, __vpu_item,  \
               __vpu_items);                                               \
    return e;

#define __vpu_1d_dir(T, S, D, Q)                                             \
    __vpu_over __vpu_event_t __vpu_async_work_group_copy(Q D T *dst, S const T *src,     \
                                             size_t n, __vpu_event_t e)            \
    {                                                                        \
        size_t b = n * sizeof(T);                                            \
        __vpu_group((S const uchar *)src, (D uchar *)dst, b, b, b, b, 1, b,  \
                    b, b)                                                    \
    }
#define __vpu_1d(T)                                                          \
    __vpu_1d_dir(T, __global, __local, ) __vpu_1d_dir(T, __local, __global, ) \
    __vpu_1d_dir(T, __local, __global, const)                                \
    __vpu_over __vpu_event_t __vpu_async_work_group_strided_copy(                        \
        __local T *dst, __global const T *src, size_t n, size_t stride,      \
        __vpu_event_t e)                                                           \
    {                                                                        \
        size_t b = sizeof(T);                                                \
        __vpu_group((__global const uchar *)src, (__local uchar *)dst, b, b, \
                    stride * b, b, 1, b, b, n * b)                           \
    }                                                                        \
    __vpu_over __vpu_event_t __vpu_async_work_group_strided_copy(                        \
        __global T *dst, __local const T *src, size_t n, size_t stride,      \
        __vpu_event_t e)                                                           \
    {                                                                        \
        size_t b = sizeof(T);                                                \
        __vpu_group((__local const uchar *)src, (__global uchar *)dst, b, b, \
                    b, stride * b, 1, b, b, n * b)                           \
    }

/* 2020 generation: source first, bytes, pitch between line and plane starts. */
#define __vpu_dma_dir(T, S, D, Q)                                            \
    __vpu_over __vpu_event_t WorkGroupDmaCreateTransaction(                        \
        S const T *src, Q D T *dst, size_t n, __vpu_event_t e)                     \
    {                                                                        \
        __vpu_group((S const uchar *)src, (D uchar *)dst, n, n, n, n, 1, n,  \
                    n, n)                                                    \
    }                                                                        \
    __vpu_over __vpu_event_t WorkGroupDmaCreateStrideTransaction(                  \
        S const T *src, Q D T *dst, size_t src_width, size_t dst_width,      \
        size_t src_stride, size_t dst_stride, size_t n, __vpu_event_t e)           \
    {                                                                        \
        __vpu_group((S const uchar *)src, (D uchar *)dst, src_width,         \
                    dst_width, src_stride, dst_stride, 1, n, n, n)           \
    }                                                                        \
    __vpu_over __vpu_event_t WorkGroupDmaCreate3DTransaction(                      \
        S const T *src, Q D T *dst, size_t src_width, size_t dst_width,      \
        size_t src_stride, size_t dst_stride, size_t planes,                 \
        size_t src_plane, size_t dst_plane, size_t n, __vpu_event_t e)             \
    {                                                                        \
        __vpu_group((S const uchar *)src, (D uchar *)dst, src_width,         \
                    dst_width, src_stride, dst_stride, planes, src_plane,    \
                    dst_plane, n)                                            \
    }                                                                        \
    /* 2021 generation: destination first, elements, gaps. */                \
    __vpu_over __vpu_event_t async_work_group_copy_2D2D(                           \
        Q D T *dst, S const T *src, size_t elements, size_t lines,           \
        size_t src_gap, size_t dst_gap, __vpu_event_t e)                           \
    {                                                                        \
        size_t b = sizeof(T), w = elements * b, n = w * lines;               \
        __vpu_group((S const uchar *)src, (D uchar *)dst, w, w,              \
                    w + src_gap * b, w + dst_gap * b, 1, n, n, n)            \
    }                                                                        \
    __vpu_over __vpu_event_t async_work_group_copy_3D3D(                           \
        Q D T *dst, S const T *src, size_t elements, size_t lines,           \
        size_t src_gap, size_t dst_gap, size_t planes, size_t src_plane_gap, \
        size_t dst_plane_gap, __vpu_event_t e)                                     \
    {                                                                        \
        size_t b = sizeof(T), w = elements * b;                              \
        size_t sp = w + src_gap * b, dp = w + dst_gap * b;                   \
        __vpu_group((S const uchar *)src, (D uchar *)dst, w, w, sp, dp,      \
                    planes, sp * lines + src_plane_gap * b,                  \
                    dp * lines + dst_plane_gap * b, w * lines)               \
    }

/* Work-item DMA: every item for itself. */
#define __vpu_item_dir(T, S, D)                                              \
    __vpu_over item_dma_event_t WorkItemDmaCreateTransaction(                \
        S const T *src, D T *dst, size_t n, item_dma_event_t e)              \
    {                                                                        \
        __vpu_move((S const uchar *)src, (D uchar *)dst, n, n, n, n, 1, n,   \
                   n, n, 0, 1);                                              \
        return e;                                                            \
    }                                                                        \
    __vpu_over item_dma_event_t WorkItemDmaCreateStrideTransaction(          \
        S const T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t n, item_dma_event_t e)  \
    {                                                                        \
        __vpu_move((S const uchar *)src, (D uchar *)dst, src_width,          \
                   dst_width, src_stride, dst_stride, 1, n, n, n, 0, 1);     \
        return e;                                                            \
    }                                                                        \
    __vpu_over item_dma_event_t WorkItemDmaCreate3DTransaction(              \
        S const T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t planes,                 \
        size_t src_plane, size_t dst_plane, size_t n, item_dma_event_t e)    \
    {                                                                        \
        __vpu_move((S const uchar *)src, (D uchar *)dst, src_width,          \
                   dst_width, src_stride, dst_stride, planes, src_plane,     \
                   dst_plane, n, 0, 1);                                      \
        return e;                                                            \
    }

#define __vpu_copies(T)                                                      \
    __vpu_1d(T) __vpu_1d(T##2) __vpu_1d(T##3) __vpu_1d(T##4) __vpu_1d(T##8)  \
    __vpu_1d(T##16)                                                          \
    __vpu_dma_dir(T, __global, __local, )                                    \
    __vpu_dma_dir(T, __local, __global, )                                    \
    __vpu_dma_dir(T, __local, __global, const)                               \
    __vpu_item_dir(T, __global, __private)                                   \
    __vpu_item_dir(T, __private, __global)

__vpu_copies(char) __vpu_copies(uchar) __vpu_copies(short)
__vpu_copies(ushort) __vpu_copies(int) __vpu_copies(uint)
__vpu_copies(long) __vpu_copies(ulong) __vpu_copies(float)
#ifndef __VPU_PROMOTE
__vpu_copies(half)
#endif
#endif

/* --- the SHAVE's own instructions --------------------------------------- */

static __vpu_half __builtin_shave_sau_sumx_f16_r(__vpu_half8 v)
{
    __vpu_half4 a = v.even + v.odd;
    __vpu_half2 b = a.even + a.odd;

    return b.x + b.y;
}

static __vpu_half __builtin_shave_sau_exp2_f16_l_r(__vpu_half v)
{
    return exp2(v);
}

static __vpu_short8 __builtin_shave_cmu_alignvec_rri_short8(__vpu_short8 a, __vpu_short8 b,
                                                      uint n)
{
    uchar bytes[32];

    vstore16(as_uchar16(a), 0, bytes);
    vstore16(as_uchar16(b), 1, bytes);
    return as_short8(vload16(0, bytes + (n & 15)));
}

static int __builtin_shave_cmu_min_i32_rr_int(int a, int b)
{
    return a < b ? a : b;
}
