/* What a run has in common with a recorded one: whether the outputs of both
 * should agree, and what differs although they should. */
#ifndef VPU_RUNTIME_RECORD_MEANING_H
#define VPU_RUNTIME_RECORD_MEANING_H

#include "runtime/record/recording.h"

#define RECORDING_NO_BUFFER UINT32_MAX

typedef struct {
    /* By buffer of the run: the recorded one, or RECORDING_NO_BUFFER. */
    const uint32_t *buffers;
    bool stages; /* the same launches, and tensors between them */
    /* Sentences without a full stop: "kernel 'grn' (grn.cl) is not the
     * recorded one". */
    const char *const *differs;
    uint32_t n_differs;
} recording_match;

/* Whether `now` means the same as what was recorded: the layer's type, the
 * values of parameters that both have, inputs and outputs with their types and
 * dims. Kernels, work sizes, tensors between stages, constants, the machine and
 * the version of the program may differ, and differs says so. The bytes of
 * inputs and constants are not looked at. Everything is in the arena, and texts
 * of both recordings are borrowed.
 *
 * VPU_ERR_MISMATCH  the message names the first thing that differs, both ways
 */
vpu_status recording_meaning(const recording *recorded, const recording *now,
                             arena *a, recording_match *out, vpu_error *err);

#endif
