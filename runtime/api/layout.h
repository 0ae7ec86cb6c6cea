/* Where the elements of a tensor are. Private to runtime/api. */
#ifndef VPU_RUNTIME_API_LAYOUT_H
#define VPU_RUNTIME_API_LAYOUT_H

#include "runtime/api/api_priv.h"

typedef struct {
    uint64_t strides[VPU_MAX_RANK]; /* bytes */
    uint64_t offset; /* bytes from the beginning to the first element */
    uint64_t bytes;  /* padding and gaps with them */
    bool is_packed;
} api_layout;

/* Of type, rank and dims that were checked. Automatic padding is written into
 * o. VPU_ERR_INVALID, VPU_ERR_LIMIT  as vpu_graph_tensor */
vpu_status api_layout_make(vpu_tensor_options *o, api_layout *out,
                           vpu_error *err);
/* As those of a tensor without gaps. */
void api_layout_pack_strides(vpu_tensor *t);
bool api_layout_is_packed(const vpu_tensor *t);
/* VPU_ERR_MISMATCH: it has gaps; `what` and a colon are in front of the
 * message, `instead` ends it. */
vpu_status api_layout_refuse_gaps(const vpu_tensor *t, const char *what,
                                  const char *instead, vpu_error *err);
/* Elements to memory, where the first of them is at `first`, or from there,
 * from or to a packed copy. */
void api_layout_copy(const vpu_tensor *t, char *first, char *packed,
                     bool to_memory);

#endif
