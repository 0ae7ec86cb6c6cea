/* Making recordings: run an opened backend, keep what there was and came. */
#ifndef VPU_RUNTIME_DIFF_RECORD_H
#define VPU_RUNTIME_DIFF_RECORD_H

#include "runtime/backend/backend.h"
#include "runtime/record/recording.h"

/* Writes the inputs (inputs[i] is that of buffer i; others are not looked at),
 * runs all launches and fills *out, in a, ready for recording_write. With
 * stages, and if the device can, one launch after the other, with every tensor
 * each of them wrote.
 *
 * Errors are those of backend_identity and of the operations. */
vpu_status diff_record(const backend *b, const backend_config *cfg,
                       const graph *g, void *const *inputs, bool stages,
                       arena *a, recording *out, vpu_error *err);

/* Whether launch l writes buffer i, as its binding says. */
bool diff_writes(const graph_launch *l, uint32_t i);

#endif
