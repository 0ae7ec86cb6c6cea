/* Operations that read around their own place: which elements of their outputs
 * mean something, and which work-groups stay in the inputs' memory; and the
 * padding that they read. Private to runtime/api. */
#ifndef VPU_RUNTIME_API_REACH_H
#define VPU_RUNTIME_API_REACH_H

#include "runtime/api/api_priv.h"

/* Nobody knows what the operation reads: where all of its inputs are valid its
 * outputs are, else nothing of them is. Does not fail. */
vpu_status api_reach_unknown(const vpu_call *c, vpu_error *err);
/* reach: of the dims of input 0.
 *
 * VPU_ERR_MISMATCH     output 0 has another shape; work-items that are no
 *                      elements
 * VPU_ERR_INVALID      a reach in front of the last three dims; no work-group
 *                      is left
 * VPU_ERR_UNSUPPORTED  work-groups that may not run, on a backend that runs all
 */
vpu_status api_reach_follow(vpu_operation *op, const vpu_call *c,
                            const uint32_t reach[VPU_MAX_RANK], vpu_error *err);
/* Launches that fill the padding of tensors with a border, in front of those
 * that read it. Errors of compiling. */
vpu_status api_border_insert(vpu_graph *g, vpu_error *err);

#endif
