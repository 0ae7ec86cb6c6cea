/* Parameters of a hardware stage (MyriadXHwOp): what the Neural Compute Engine
 * is told, operation by operation (docs/networks.md, "Hardware operations"; its
 * words [S], [B]).
 */
#ifndef VPU_RUNTIME_BLOB_HW_H
#define VPU_RUNTIME_BLOB_HW_H

#include "runtime/blob/blob.h"

typedef enum { HW_CONV = 0, HW_CONV_POOL = 1, HW_FC = 2, HW_POOL = 4 } hw_kind;

enum { HW_POOL_MAX = 0, HW_POOL_AVERAGE = 1 };
/* Sides of a pooling window that overhang: bits of hw_op.pad_mode. */
enum { HW_PAD_RIGHT = 1, HW_PAD_BOTTOM = 2, HW_PAD_TOP = 4, HW_PAD_LEFT = 8 };
enum { HW_MODES = 5 };

/* One operation. Fields of another kind are 0, absent buffers -1. */
typedef struct {
    uint32_t kind;      /* hw_kind */
    uint32_t pool_type; /* POOL */
    uint32_t mode; /* m: 2^m input channels in parallel, 256 / 2^m outputs */
    bool pads;
    uint32_t pad_mode;
    int32_t input, output, weights, biases, scales; /* buffers of the stage */
    uint32_t channel, n_channels;                   /* not FC: of the output */
    struct {
        uint32_t input_at, n_inputs, output_at, n_outputs, accumulate;
    } fc;
    uint32_t kernel_w, kernel_h, stride; /* not FC */
    uint32_t pool_w, pool_h;             /* CONV_POOL */
    bool relu;
    int32_t t0, a0, a1; /* v < t0 ? v * a0 : v * a1 */
    bool clamp;
    float clamp_max; /* to 0 ... this */
    uint32_t reuse_data, reuse_weights;
} hw_op;

/* The operations of a stage of type STAGE_HW, in a.
 *
 * VPU_ERR_PARSE  params end too early, or do not end where they should; a kind,
 *                mode or flag that there is none of (message: word of params,
 *                field, value, what was expected) */
vpu_status hw_stage_read(const blob_stage *s, arena *a, const hw_op **out,
                         uint32_t *n, vpu_error *err);
/* Whether a stage record stands behind the operations, and the word of params
 * it begins at. False, too, for params that are damaged. */
bool hw_stage_injects(const blob_stage *s, uint32_t *word);

const char *hw_kind_name(uint32_t kind); /* "CONV"; NULL: none */
const char *hw_mode_name(uint32_t mode); /* "8x32"; NULL: none */

#endif
