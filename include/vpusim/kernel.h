/* The VPU's own functions, declared for OpenCL C 1.2: what every kernel sees
 * before its first line, without naming it. Editors find what they do here
 * (`vpu init` writes clangd's flags). The standard's built-ins are clang's
 * declarations.
 *
 * Transfers go between __global memory and __local or private memory. The
 * functions are declared for every element type T of which both pointers are:
 * char to ulong, half and float. Published kernels pass const pointers as
 * destinations, and the vendor's compiler takes them. `vpu check` finds memory
 * outside of an array, lines that overlap and waits that are missing.
 *
 * A kernel K may have two more with the same parameters:
 *
 *   __dma_preload_K    starts the transfers of a work-group's inputs; K begins
 * for the group when they are done
 *   __dma_postwrite_K  begins behind the last work-item of K, and starts the
 *                      transfers of its results
 *
 * Neither waits. While SHAVEs compute a group, the transfers of the next and of
 * the one before run. */
#ifndef VPU_KERNEL_H
#define VPU_KERNEL_H
#ifdef __OPENCL_C_VERSION__

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* clang-format off */

/* clang's event_t is an opaque target type no back end of ours can hold; copies
 * are numbered per work-group, so an event is a number. */
typedef uint __vpu_event_t;
#define event_t __vpu_event_t

#define __vpu_over __attribute__((overloadable, nothrow))
#define __vpu_types(F)                                                       \
    F(char) F(uchar) F(short) F(ushort) F(int) F(uint) F(long) F(ulong)      \
    F(half) F(float)
/* Both directions, and a const destination. */
#define __vpu_ways(F, T)                                                     \
    F(T, __global, __local) F(T, __local, __global)                          \
    F(T, __local, const __global)
#define __vpu_vectors(F, T) F(T) F(T##2) F(T##3) F(T##4) F(T##8) F(T##16)

/* Hundreds of overloads take clang longer than a small kernel. For a function
 * that a kernel's text does not name, the compiler of kernels defines a macro,
 * __without_ and the name, and its overloads are left out; where clang
 * objects to the kernel then, it is given all. */

/* --- the standard's copies ------------------------------------------------ */

/* clang declares them with its own event type; these names stand in for them.
 * What a macro is told for is inside of it, where an editor shows it. */
#define async_work_group_copy /* (dst, src, n, event)
    Starts to copy n elements, __global to __local or back, once for the
    work-group. event: 0, or an earlier one to join. wait_group_events waits for
    it; in front of a copy out stands barrier(CLK_LOCAL_MEM_FENCE). */       \
    __vpu_async_copy
#define async_work_group_strided_copy /* (dst, src, n, stride, event)
    As async_work_group_copy, but in __global memory the elements are stride
    elements apart. */                                                       \
    __vpu_async_strided_copy
#define wait_group_events /* (n, events)
    Waits until the n copies of the work-group are done. */                  \
    __vpu_wait_group_events
#define prefetch /* (p, n)
    Says that n elements at p, in __global memory, will be read. */          \
    __vpu_prefetch

#define __vpu_copy_of(T)                                                     \
    __vpu_over event_t __vpu_async_copy(__local T *dst,                      \
        const __global T *src, size_t n, event_t e);                         \
    __vpu_over event_t __vpu_async_copy(__global T *dst,                     \
        const __local T *src, size_t n, event_t e);                          \
    __vpu_over event_t __vpu_async_copy(const __global T *dst,               \
        const __local T *src, size_t n, event_t e);
#define __vpu_copies_of(T) __vpu_vectors(__vpu_copy_of, T)
#if !defined(__without_async_work_group_copy) || \
    !defined(__without___vpu_async_copy)
/** Starts to copy n elements once for the work-group; see
 * async_work_group_copy. */
__vpu_types(__vpu_copies_of)
#endif

#define __vpu_strided_of(T)                                                  \
    __vpu_over event_t __vpu_async_strided_copy(__local T *dst,              \
        const __global T *src, size_t n, size_t stride, event_t e);          \
    __vpu_over event_t __vpu_async_strided_copy(__global T *dst,             \
        const __local T *src, size_t n, size_t stride, event_t e);
#define __vpu_strideds_of(T) __vpu_vectors(__vpu_strided_of, T)
#if !defined(__without_async_work_group_strided_copy) || \
    !defined(__without___vpu_async_strided_copy)
/** Starts to copy n elements, which are stride elements apart in __global memory;
 * see async_work_group_strided_copy. */
__vpu_types(__vpu_strideds_of)
#endif

#define __vpu_prefetch_of(T)                                                 \
    __vpu_over void __vpu_prefetch(const __global T *p, size_t n);
#define __vpu_prefetches_of(T) __vpu_vectors(__vpu_prefetch_of, T)
#if !defined(__without_prefetch) || !defined(__without___vpu_prefetch)
/** Says that n elements at p will be read; see prefetch. */
__vpu_types(__vpu_prefetches_of)
#endif

/** Waits until the n copies of the work-group are done; see
 * wait_group_events. */
void __vpu_wait_group_events(int n, event_t *events) __attribute__((nothrow));

/* --- 2020: source first, bytes, strides from start to start --------------- */

#define __vpu_way(T, S, D)                                                   \
    __vpu_over event_t WorkGroupDmaCreateTransaction(                        \
        const S T *src, D T *dst, size_t size, event_t e);
#define __vpu_of(T) __vpu_ways(__vpu_way, T)
#ifndef __without_WorkGroupDmaCreateTransaction
/** Starts a transfer of size bytes, in a row on both sides, once for the
 * work-group.
 *
 * Usually in __dma_preload_ and __dma_postwrite_ kernels, which do not wait;
 * elsewhere wait_group_events waits for the event.
 *
 * @param src where from: __global or __local
 * @param dst where to: the other of the two
 * @param size bytes
 * @param e 0, or an event to join */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

#define __vpu_way(T, S, D)                                                   \
    __vpu_over event_t WorkGroupDmaCreateStrideTransaction(                  \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t size, event_t e);
#ifndef __without_WorkGroupDmaCreateStrideTransaction
/** Starts a transfer of lines, once for the work-group. Each side goes through
 * its own lines until size bytes are moved; usually both widths are the same.
 *
 * Usually in __dma_preload_ and __dma_postwrite_ kernels, which do not wait;
 * elsewhere wait_group_events waits for the event.
 *
 * @param src where from: __global or __local
 * @param dst where to: the other of the two
 * @param src_width bytes of a line of the source
 * @param dst_width bytes of a line of the destination
 * @param src_stride bytes from the start of a line to the start of the next, in
 *                   the source
 * @param dst_stride the same in the destination
 * @param size bytes of all lines: their number times the width
 * @param e 0, or an event to join */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

#define __vpu_way(T, S, D)                                                   \
    __vpu_over event_t WorkGroupDmaCreate3DTransaction(                      \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t num_planes,             \
        size_t src_plane_stride, size_t dst_plane_stride, size_t plane_size, \
        event_t e);
#ifndef __without_WorkGroupDmaCreate3DTransaction
/** Starts a transfer of planes of lines, once for the work-group.
 *
 * Usually in __dma_preload_ and __dma_postwrite_ kernels, which do not wait;
 * elsewhere wait_group_events waits for the event.
 *
 * @param src where from: __global or __local
 * @param dst where to: the other of the two
 * @param src_width bytes of a line of the source
 * @param dst_width bytes of a line of the destination
 * @param src_stride bytes from the start of a line to the start of the next, in
 *                   the source
 * @param dst_stride the same in the destination
 * @param num_planes how many planes
 * @param src_plane_stride bytes from the start of a plane to the start of the
 *                         next, in the source
 * @param dst_plane_stride the same in the destination
 * @param plane_size bytes of the lines of one plane
 * @param e 0, or an event to join */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

/* --- 2021: destination first, elements, gaps from end to start ------------ */

#define __vpu_way(T, S, D)                                                   \
    __vpu_over event_t async_work_group_copy_2D2D(                           \
        D T *dst, const S T *src, size_t elements_per_line, size_t lines,    \
        size_t src_gap, size_t dst_gap, event_t e);
#ifndef __without_async_work_group_copy_2D2D
/** Starts a copy of lines, once for the work-group. wait_group_events waits for
 * it; in front of a copy out of __local memory stands
 * barrier(CLK_LOCAL_MEM_FENCE).
 *
 * @param dst where to: __local or __global
 * @param src where from: the other of the two
 * @param elements_per_line elements of a line, on both sides
 * @param lines how many lines
 * @param src_gap elements skipped behind each line of the source; 0: packed
 * @param dst_gap elements skipped behind each line of the destination
 * @param e 0, or an event to join */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

#define __vpu_way(T, S, D)                                                   \
    __vpu_over event_t async_work_group_copy_3D3D(                           \
        D T *dst, const S T *src, size_t elements_per_line, size_t lines,    \
        size_t src_gap, size_t dst_gap, size_t planes,                       \
        size_t src_plane_gap, size_t dst_plane_gap, event_t e);
#ifndef __without_async_work_group_copy_3D3D
/** Starts a copy of planes of lines, once for the work-group. wait_group_events
 * waits for it; in front of a copy out of __local memory stands
 * barrier(CLK_LOCAL_MEM_FENCE).
 *
 * @param dst where to: __local or __global
 * @param src where from: the other of the two
 * @param elements_per_line elements of a line, on both sides
 * @param lines how many lines in each plane
 * @param src_gap elements skipped behind each line of the source, the last of a
 *                plane, too; 0: packed
 * @param dst_gap elements skipped behind each line of the destination
 * @param planes how many planes
 * @param src_plane_gap elements skipped besides behind each plane of the source
 * @param dst_plane_gap elements skipped besides behind each plane of the
 *                      destination
 * @param e 0, or an event to join */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way
#undef __vpu_of

/* --- of a work-item ------------------------------------------------------- */

/* Global and private memory; groups of one item. */
typedef uint item_dma_event_t;
#define __vpu_of(T)                                                          \
    __vpu_way(T, __global, __private) __vpu_way(T, __private, __global)

#define __vpu_way(T, S, D)                                                   \
    __vpu_over item_dma_event_t WorkItemDmaCreateTransaction(                \
        const S T *src, D T *dst, size_t size, item_dma_event_t e);
#ifndef __without_WorkItemDmaCreateTransaction
/** Starts a transfer of size bytes for the work-item alone, which must be the
 * only one of its work-group. WaitWorkItemDmaEvents waits for it.
 *
 * @param src where from: __global memory or a private array
 * @param dst where to: the other of the two
 * @param size bytes
 * @param e 0 */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

#define __vpu_way(T, S, D)                                                   \
    __vpu_over item_dma_event_t WorkItemDmaCreateStrideTransaction(          \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t size,                   \
        item_dma_event_t e);
#ifndef __without_WorkItemDmaCreateStrideTransaction
/** Starts a transfer of lines for the work-item alone, which must be the only
 * one of its work-group. WaitWorkItemDmaEvents waits for it. The parameters are
 * those of WorkGroupDmaCreateStrideTransaction.
 *
 * @param src where from: __global memory or a private array
 * @param dst where to: the other of the two
 * @param size bytes of all lines
 * @param e 0 */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way

#define __vpu_way(T, S, D)                                                   \
    __vpu_over item_dma_event_t WorkItemDmaCreate3DTransaction(              \
        const S T *src, D T *dst, size_t src_width, size_t dst_width,        \
        size_t src_stride, size_t dst_stride, size_t num_planes,             \
        size_t src_plane_stride, size_t dst_plane_stride, size_t plane_size, \
        item_dma_event_t e);
#ifndef __without_WorkItemDmaCreate3DTransaction
/** Starts a transfer of planes of lines for the work-item alone, which must be
 * the only one of its work-group. WaitWorkItemDmaEvents waits for it. The
 * parameters are those of WorkGroupDmaCreate3DTransaction.
 *
 * @param src where from: __global memory or a private array
 * @param dst where to: the other of the two
 * @param plane_size bytes of the lines of one plane
 * @param e 0 */
__vpu_types(__vpu_of)
#endif
#undef __vpu_way
#undef __vpu_of

/** Waits until the n transfers of the work-item are done.
 *
 * @param n how many events
 * @param events what WorkItemDmaCreate... gave */
void WaitWorkItemDmaEvents(int n, item_dma_event_t *events)
    __attribute__((nothrow));

/* --- the SHAVE's instructions: docs/hardware.md, "SHAVE built-ins" ---------- */

/** The sum of the eight halves. */
half __builtin_shave_sau_sumx_f16_r(half8 v) __attribute__((const));
/** 2 to the power of v. */
half __builtin_shave_sau_exp2_f16_l_r(half v) __attribute__((const));
/** The 16 bytes that begin n bytes behind the start of a followed by b. */
short8 __builtin_shave_cmu_alignvec_rri_short8(short8 a, short8 b, uint n)
    __attribute__((const));
/** The smaller one. */
int __builtin_shave_cmu_min_i32_rr_int(int a, int b) __attribute__((const));

#undef __vpu_copy_of
#undef __vpu_copies_of
#undef __vpu_strided_of
#undef __vpu_strideds_of
#undef __vpu_prefetch_of
#undef __vpu_prefetches_of
#undef __vpu_types
#undef __vpu_ways
#undef __vpu_vectors
/* clang-format on */

#else
struct vpu_kernel; /* to C there is nothing here */
#endif
#endif
