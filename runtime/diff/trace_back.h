/* From elements to the work-groups and work-items that wrote them. Private to
 * runtime/diff. */
#ifndef VPU_RUNTIME_DIFF_TRACE_BACK_H
#define VPU_RUNTIME_DIFF_TRACE_BACK_H

#include "runtime/diff/diff.h"

/* Fills the places' groups and items and the counts per group of d, one of the
 * report's buffers, whose contents are the pair, by running the graph on the
 * simulator up to the launch that wrote it. A graph the simulator cannot run is
 * no error: r->not_traced says so then.
 *
 * A work-item is told by position: each dimension of the local size must be 1
 * or belong to a dimension of the tensor that is as long as the launch is
 * there, the usual one (x innermost) before any other. */
vpu_status diff_trace_back(diff_report *r, const diff_config *cfg,
                           diff_buffer *d, const diff_pair *pair, arena *mem,
                           vpu_error *err);

#endif
