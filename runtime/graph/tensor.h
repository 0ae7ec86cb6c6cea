/* Tensors: element types, shapes, memory layouts, and conversions between them.
 */
#ifndef VPU_RUNTIME_GRAPH_TENSOR_H
#define VPU_RUNTIME_GRAPH_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef enum {
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_I32,
    TENSOR_U8,
    TENSOR_I8,
    TENSOR_I16,
    TENSOR_U16,
    TENSOR_I64,
    TENSOR_N_DTYPES
} tensor_dtype;

/* Memory order of the dims. PLAIN = as the IR writes them (NCHW, CHW, NC…),
 * outermost first; MINOR = channels innermost (NHWC, HWC). */
typedef enum { TENSOR_PLAIN, TENSOR_CHANNEL_MINOR } tensor_layout;

enum { TENSOR_MAX_RANK = 5 };
#define TENSOR_MAX_BYTES ((uint64_t)1 << 32) /* the device's address space */

typedef struct {
    tensor_dtype dtype;
    uint32_t rank;                  /* 0 = scalar */
    uint32_t dims[TENSOR_MAX_RANK]; /* logical (IR) order, outermost first */
    tensor_layout layout;
} tensor_desc;

typedef struct {
    tensor_desc desc;
    void *data; /* tensor_bytes(desc), in desc.layout order */
} tensor;

uint32_t tensor_dtype_bytes(tensor_dtype t);
const char *tensor_dtype_name(tensor_dtype t); /* "f16", "f32", "i32", "u8" … */
/* "f16", also "FP16", "FLOAT16" as models write it, any case; "boolean" is u8.
 */
bool tensor_dtype_parse(const char *text, tensor_dtype *out);
/* Both saturate at UINT64_MAX; a scalar has one element. */
uint64_t tensor_elements(const tensor_desc *d);
uint64_t tensor_bytes(const tensor_desc *d);

/* VPU_ERR_INVALID  rank above TENSOR_MAX_RANK, or a dim of 0
 * VPU_ERR_LIMIT    more than TENSOR_MAX_BYTES */
vpu_status tensor_desc_check(const tensor_desc *d, vpu_error *err);
/* "f16 1x24x128x512", "f16 scalar". In the arena. */
char *tensor_desc_text(arena *a, const tensor_desc *d);

/* Reorder src (in src_desc.layout) into dst (in dst_layout). No dtype change.
 * src and dst do not overlap; both are tensor_bytes long. The layouts differ
 * for rank 3 to 5 only: channels are dims[0] of rank 3, dims[1] above. */
void tensor_relayout(const tensor_desc *src_desc, const void *src,
                     tensor_layout dst_layout, void *dst);

/* IEEE half and single, round to nearest even, no dependence on hardware. NaNs
 * stay NaNs (quiet, upper payload bits kept). */
uint16_t tensor_f32_to_f16(float f);
float tensor_f16_to_f32(uint16_t h);

#endif
