/* Conversions between layers that need not be: where layers are put together,
 * each asks for the memory order and the element type that its kernels want. */
#ifndef VPU_RUNTIME_GRAPH_CONVERSIONS_H
#define VPU_RUNTIME_GRAPH_CONVERSIONS_H

#include "runtime/graph/graph.h"

/* Takes launches out of g, as long as that saves any:
 *
 *   shared    a conversion of a buffer that an earlier launch converts the same
 *             way: its readers read what that one wrote
 *   inverse   a conversion back of what another one converted, exactly: its
 *             readers read the first buffer
 *   unused    a conversion whose result nobody reads any more
 *   constant  another memory order of a constant: made here, so that it is a
 *             constant, too
 *
 * Other buffers stay as they are; scratch buffers may be left that no launch
 * names.
 * Outputs are written as before, and every other launch computes the same.
 * new_index: for each launch its number afterwards, of those that are gone that
 * of the launch behind it; g->n_launches + 1 of them, in the arena. Returns how
 * many launches are gone. */
uint32_t graph_cancel_conversions(graph *g, arena *a, uint32_t **new_index);

#endif
