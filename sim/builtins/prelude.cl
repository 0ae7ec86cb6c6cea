/* vpusim prelude: the VPU's own functions, declared for OpenCL C 1.2.
 * The standard built-ins are clang's declarations; their meaning is in
 * sim/builtins/builtins.def. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* clang's event_t is an opaque target type no back end of ours can hold; copies
 * are numbered per work-group, so an event is a number. */
typedef uint __vpu_event_t;
#define event_t __vpu_event_t

#define __vpu_over __attribute__((overloadable, nothrow))

/* async_work_group_copy and friends for one element type. clang declares them
 * with its own event type; these names stand in for them. */
#define async_work_group_copy __vpu_async_copy
#define async_work_group_strided_copy __vpu_async_strided_copy
#define wait_group_events __vpu_wait_group_events
#define prefetch __vpu_prefetch

#define __vpu_copy_1(T)                                                      \
    __vpu_over event_t __vpu_async_copy(__local T *dst,                      \
        const __global T *src, size_t n, event_t e);                         \
    __vpu_over event_t __vpu_async_copy(__global T *dst,                     \
        const __local T *src, size_t n, event_t e);                          \
    __vpu_over event_t __vpu_async_copy(const __global T *dst,               \
        const __local T *src, size_t n, event_t e);                          \
    __vpu_over event_t __vpu_async_strided_copy(__local T *dst,              \
        const __global T *src, size_t n, size_t stride, event_t e);          \
    __vpu_over event_t __vpu_async_strided_copy(__global T *dst,             \
        const __local T *src, size_t n, size_t stride, event_t e);           \
    __vpu_over void __vpu_prefetch(const __global T *p, size_t n);

#define __vpu_copy(T)                                                        \
    __vpu_copy_1(T) __vpu_copy_1(T##2) __vpu_copy_1(T##3)                    \
    __vpu_copy_1(T##4) __vpu_copy_1(T##8) __vpu_copy_1(T##16)

__vpu_copy(char) __vpu_copy(uchar) __vpu_copy(short) __vpu_copy(ushort)
__vpu_copy(int) __vpu_copy(uint) __vpu_copy(long) __vpu_copy(ulong)
__vpu_copy(half) __vpu_copy(float)

void __vpu_wait_group_events(int n, event_t *events) __attribute__((nothrow));

/* Published kernels pass const pointers as destinations; the vendor's compiler
 * takes them.
 *
 * 2020 generation: source first, bytes, pitch between line and plane starts. */
#define __vpu_dma_dir(T, S, D)                                               \
    __vpu_over event_t WorkGroupDmaCreateTransaction(                        \
        const S T *src, D T *dst, size_t size, event_t e);                   \
    __vpu_over event_t WorkGroupDmaCreateStrideTransaction(                  \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t size, event_t e);       \
    __vpu_over event_t WorkGroupDmaCreate3DTransaction(                      \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t num_planes,             \
        size_t src_plane_stride, size_t dst_plane_stride, size_t plane_size, \
        event_t e);
/* 2021 generation: destination first, elements, gap after each line, plane. */
#define __vpu_2d_dir(T, S, D)                                                \
    __vpu_over event_t async_work_group_copy_2D2D(                           \
        D T *dst, const S T *src, size_t elements_per_line, size_t lines,    \
        size_t src_gap, size_t dst_gap, event_t e);                          \
    __vpu_over event_t async_work_group_copy_3D3D(                           \
        D T *dst, const S T *src, size_t elements_per_line, size_t lines,    \
        size_t src_gap, size_t dst_gap, size_t planes,                       \
        size_t src_plane_gap, size_t dst_plane_gap, event_t e);
#define __vpu_dma(T)                                                         \
    __vpu_dma_dir(T, __global, __local) __vpu_dma_dir(T, __local, __global)  \
    __vpu_dma_dir(T, __local, const __global)                                \
    __vpu_2d_dir(T, __global, __local) __vpu_2d_dir(T, __local, __global)    \
    __vpu_2d_dir(T, __local, const __global)

__vpu_dma(char) __vpu_dma(uchar) __vpu_dma(short) __vpu_dma(ushort)
__vpu_dma(int) __vpu_dma(uint) __vpu_dma(long) __vpu_dma(ulong)
__vpu_dma(half) __vpu_dma(float)

/* Work-item DMA: global and private memory, groups of one item. */
typedef uint item_dma_event_t;
#define __vpu_item_dir(T, S, D)                                              \
    __vpu_over item_dma_event_t WorkItemDmaCreateTransaction(                \
        const S T *src, D T *dst, size_t size, item_dma_event_t e);          \
    __vpu_over item_dma_event_t WorkItemDmaCreateStrideTransaction(          \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t size,                   \
        item_dma_event_t e);                                                 \
    __vpu_over item_dma_event_t WorkItemDmaCreate3DTransaction(              \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t num_planes,             \
        size_t src_plane_stride, size_t dst_plane_stride, size_t plane_size, \
        item_dma_event_t e);
#define __vpu_item(T)                                                        \
    __vpu_item_dir(T, __global, __private)                                   \
    __vpu_item_dir(T, __private, __global)

__vpu_item(char) __vpu_item(uchar) __vpu_item(short) __vpu_item(ushort)
__vpu_item(int) __vpu_item(uint) __vpu_item(long) __vpu_item(ulong)
__vpu_item(half) __vpu_item(float)
void WaitWorkItemDmaEvents(int n, item_dma_event_t *events)
    __attribute__((nothrow));

/* The SHAVE's own instructions (docs/hardware.md, "SHAVE built-ins"). */
half __builtin_shave_sau_sumx_f16_r(half8 v) __attribute__((const));
half __builtin_shave_sau_exp2_f16_l_r(half v) __attribute__((const));
short8 __builtin_shave_cmu_alignvec_rri_short8(short8 a, short8 b, uint n)
    __attribute__((const));
int __builtin_shave_cmu_min_i32_rr_int(int a, int b) __attribute__((const));

#undef __vpu_item
#undef __vpu_item_dir
#undef __vpu_copy
#undef __vpu_copy_1
#undef __vpu_dma
#undef __vpu_dma_dir
#undef __vpu_2d_dir
