/* A blob as a graph: what the vendor's compiler made of a network, ready for a
 * backend. */
#ifndef VPU_RUNTIME_IMPORT_IMPORT_H
#define VPU_RUNTIME_IMPORT_IMPORT_H

#include "runtime/blob/blob.h"
#include "runtime/graph/graph.h"
#include "runtime/openvino/openvino.h"

typedef struct {
    const char *kernels; /* folder of .cl files, for kernels that another
                            compiler made; NULL = none */
    /* What the compiler calls stages; NULL: "stage N" each. */
    const openvino_stage *stages;
    uint32_t n_stages;
    bool no_cache;     /* of compiled networks */
    bool from_sources; /* a kernel that a .cl in that folder has is taken from
                          there: so its lines are known */
} import_config;

/* A launch for each stage, and each item of a batch; buffers for each input
 * ("in0", … whose label is the blob's name for it), each output, scratch memory
 * ("scratch"), CMX ("cmx") and constants ("constants").
 *
 * Custom stages are launches of their kernels; others are native ones
 * (graph_launch.native), as are Permute and Convert stages of whole tensors for
 * which the simulator has a kernel, so that their time is simulated.
 *
 * Everything is in a; b is borrowed.
 *
 * VPU_ERR_PARSE        its numbers do not agree; a stage's fields do not
 *                      (message: stage, field, value)
 * VPU_ERR_UNSUPPORTED  a stage or a form of it that is not run; dynamic shapes;
 *                      a kernel of another compiler without a .cl that has it
 */
vpu_status import_blob(const blob *b, const import_config *c, arena *a,
                       graph *out, vpu_error *err);

/* A batch's size, 1 if there is none. */
uint32_t import_batch(const blob *b);

#endif
