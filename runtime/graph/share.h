/* Memory of tensors between launches, shared by those that are not needed at
 * the same time. */
#ifndef VPU_RUNTIME_GRAPH_SHARE_H
#define VPU_RUNTIME_GRAPH_SHARE_H

#include "runtime/graph/graph.h"
#include "runtime/pool/plan.h"

/* What was planned: an item for each buffer that may share. */
typedef struct {
    pool_item *items;
    const char **names; /* of the buffers */
    pool_plan plan;     /* plan.n items; first and last are launches */
} graph_sharing;

/* Lets scratch buffers share memory where that saves any. A backend that has
 * memory of its own for each buffer may ignore it: contents of a buffer are
 * what its launches write, before the first of them nothing is promised.
 *
 * Errors of pool_plan_make. Everything in the arena. */
vpu_status graph_share(graph *g, arena *a, graph_sharing *out, vpu_error *err);

#endif
