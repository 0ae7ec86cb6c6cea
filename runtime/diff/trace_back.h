/* From elements to the work-groups and work-items that wrote them. Private to
 * runtime/diff. */
#ifndef VPU_RUNTIME_DIFF_TRACE_BACK_H
#define VPU_RUNTIME_DIFF_TRACE_BACK_H

#include "runtime/diff/diff.h"

/* Fills the places' groups and items and the counts per group of d, whose
 * buffer is a on one side and b on the other, by running the graph on the
 * simulator up to the launch that wrote it. A graph the simulator cannot run is
 * no error: *why says so then.
 *
 * A work-item is told by position: each dimension of the local size must be 1
 * or belong to a dimension of the tensor that is as long as the launch is
 * there, the usual one (x innermost) before any other. */
vpu_status diff_trace_back(const graph *g, const diff_config *cfg,
                           diff_buffer *d, const void *a, const void *b,
                           arena *mem, const char **why, vpu_error *err);

#endif
