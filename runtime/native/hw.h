/* The hardware engine's operations: how make (hw.c) leaves them for the loops
 * (hw_run.c, hw_loops.c). Private to runtime/native. */
#ifndef VPU_RUNTIME_NATIVE_HW_H
#define VPU_RUNTIME_NATIVE_HW_H

#include "runtime/blob/hw.h"
#include "runtime/native/native_priv.h"

enum { NATIVE_HW_BLOCK = 8, NATIVE_HW_POSITIONS = 6 };

/* Which input channels matter to an operation. A product with a weight of 0 is
 * left out: memory that a channel extension reads may hold anything
 * (docs/networks.md,
 * "Hardware operations"), and a depthwise convolution is one over tiles whose
 * other weights are 0. Lists ascend, which is the order of sums. */
typedef struct {
    /* By pair of blocks of 8 output channels: list[first[k]] to [first[k+1]].
     */
    uint32_t n_pairs;
    const uint32_t *first, *list;
    /* Few weights are not 0: then by output channel, else NULL. */
    const uint32_t *channel_first, *channel_list;
    const bool *used; /* by input channel */
} native_hw_use;

/* How an operation looks at its input: planes of floats with what lies around
 * them, columns apart by their index modulo the stride, so that what neighbours
 * of a row need lies side by side. */
typedef struct {
    uint32_t input; /* tensor */
    uint32_t kernel_w, kernel_h, stride, pad_left, pad_top;
    uint32_t out_w, out_h; /* before a fused pooling */
    float outside;         /* value of what is not in the input */
    uint32_t phase;        /* columns of one remainder */
    uint32_t row;          /* floats: stride * phase */
    uint64_t plane;
    bool *used; /* by channel: by some operation */
} native_hw_view;

typedef struct {
    hw_op op;
    uint32_t view;            /* of the stage */
    const native_hw_use *use; /* NULL: POOL; weights that are not constant */
} native_hw_work;

typedef struct {
    native_hw_work *work;
    uint32_t n_work;
    native_hw_view *views;
    uint32_t n_views;
} native_hw_state;

/* Weights as the record has them: 8 outputs, kernel, inputs, blocks. */
void native_hw_use_of(const uint16_t *weights, const native_tensor *t,
                      const hw_op *op, arena *a, native_hw_use *out);

/* --- loops (hw_loops.c): the same bits on every host ---------------------- */

typedef struct {
    const uint16_t *weights[2]; /* of two blocks at channel 0; [1] may be
                                   weights of the same block again */
    const uint32_t *channels;   /* which count */
    uint32_t n_channels;
    uint32_t kernel;      /* kernel_w * kernel_h */
    const uint32_t *taps; /* float offsets in a plane, by place in it */
    uint64_t plane;
    const float *base[NATIVE_HW_POSITIONS]; /* of channel 0 */
} native_hw_tile;

/* acc[p][o]: sums at position p of 16 output channels. */
void native_hw_dense(const native_hw_tile *t, bool skip_zero,
                     float acc[NATIVE_HW_POSITIONS][2 * NATIVE_HW_BLOCK]);

typedef enum { NATIVE_HW_SUM, NATIVE_HW_MAX, NATIVE_HW_MAC } native_hw_fold;
/* acc[x] for n neighbours: over the taps of one plane. */
void native_hw_row(native_hw_fold fold, const float *plane,
                   const uint32_t *taps, const uint16_t *weights,
                   uint32_t n_taps, float *acc, uint32_t n);

#endif
