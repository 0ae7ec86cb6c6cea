/* Local sizes that a user chooses. */
#ifndef VPU_RUNTIME_GRAPH_LOCAL_H
#define VPU_RUNTIME_GRAPH_LOCAL_H

#include "runtime/graph/graph.h"

/* Gives launches of g other local sizes: "64x1x1" (or "64", "64x1") those of
 * all kernels of the user's, "NAME=64x1x1" that of one launch; several with
 * commas between them, the last one counts. Work sizes stay.
 *
 * VPU_ERR_INVALID  not such a text; no launch of that name, or one without a
 *                  kernel of the user's; a size that does not divide the global
 *                  size. g is as it was then, but for sizes in front of that */
vpu_status graph_set_local(graph *g, const char *text, arena *a,
                           vpu_error *err);

#endif
