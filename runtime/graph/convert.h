/* Launches of our own between a graph's stages: another memory order, another
 * element type. They run convert.cl, compiled and timed like any kernel. */
#ifndef VPU_RUNTIME_GRAPH_CONVERT_H
#define VPU_RUNTIME_GRAPH_CONVERT_H

#include "runtime/graph/graph.h"

/* Buffer dst = buffer src, which is `from`, in the other memory order; rank 3
 * to 5. Fills what is not a name or a place: source, arguments, sizes. */
void graph_permute(arena *a, const tensor_desc *from, uint32_t src,
                   uint32_t dst, graph_launch *out);

/* Whether there is a conversion of elements: u8 or f32 to f16, f16 to f32. */
bool graph_can_retype(tensor_dtype from, tensor_dtype to);
/* Buffer dst = buffer src, which is `from`, as elements of type `to`. */
void graph_retype(arena *a, const tensor_desc *from, tensor_dtype to,
                  uint32_t src, uint32_t dst, graph_launch *out);

#endif
