/* Making recordings: run an opened backend, keep what there was and came. */
#ifndef VPU_RUNTIME_DIFF_RECORD_H
#define VPU_RUNTIME_DIFF_RECORD_H

#include "runtime/backend/backend.h"
#include "runtime/record/recording.h"

/* What is run to be recorded. */
typedef struct {
    const backend *backend;
    const backend_config *config; /* it was opened with */
    const graph *graph;
    void *const *inputs; /* [i] is that of buffer i; others are not looked at */
    bool stages; /* if the device can: one launch after the other, with every
                    tensor each of them wrote */
} diff_record_job;

/* Writes the inputs, runs all launches and fills *out, in a, ready for
 * recording_write.
 *
 * Errors are those of backend_identity and of the operations. */
vpu_status diff_record(const diff_record_job *job, arena *a, recording *out,
                       vpu_error *err);

/* Whether launch l writes buffer i, as its binding says. */
bool diff_writes(const graph_launch *l, uint32_t i);

/* recording.max_slowdown of a file; 0 when there is none, or no such file. */
double diff_recorded_limit(const char *path);

#endif
