/* Two graphs of one layer, bound from the same files or from others: which of
 * their tensors stand for one another. */
#ifndef VPU_RUNTIME_DIFF_PAIRING_H
#define VPU_RUNTIME_DIFF_PAIRING_H

#include "runtime/graph/graph.h"

#define DIFF_UNPAIRED UINT32_MAX

typedef struct {
    const uint32_t *buffers; /* by number of a (graph_buffer_at): that of b, or
                                DIFF_UNPAIRED */
    bool stages; /* the launches have the same names, and what they pass on the
                    same types and dims */
} diff_pairing;

/* Inputs and outputs are paired by port, what passes between stages by name. In
 * the arena.
 *
 * VPU_ERR_MISMATCH  an input or output has another type or other dims in b, or
 *                   an output is missing there; the message quotes both */
vpu_status diff_pair_graphs(const graph *a, const graph *b, arena *mem,
                            diff_pairing *out, vpu_error *err);

#endif
