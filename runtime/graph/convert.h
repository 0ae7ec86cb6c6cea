/* Launches of our own between a graph's stages: another memory order, another
 * element type. They run convert.cl, compiled and timed like any kernel. */
#ifndef VPU_RUNTIME_GRAPH_CONVERT_H
#define VPU_RUNTIME_GRAPH_CONVERT_H

#include "runtime/graph/graph.h"

/* Buffer dst = buffer src, which is `from`, in the other memory order; rank 3
 * to 5. Fills what is not a name or a place: source, arguments, sizes. */
void graph_permute(arena *a, const tensor_desc *from, uint32_t src,
                   uint32_t dst, graph_launch *out);

/* The largest divisor of a global size, up to 512, that is a multiple of
 * factor; the largest when none is. */
uint32_t graph_local_size(uint32_t global, uint32_t factor);

/* Where the element (b, f, y, x) of a tensor stands, in elements. */
typedef struct {
    uint32_t offset;
    uint32_t pitches[4]; /* of B, F, Y, X */
} graph_pitches;

/* Buffer dst = buffer src, both with those dims (B, F, Y, X) of elements of so
 * many bytes, each at its own pitches; what is around a tensor stays as it is.
 */
typedef struct {
    uint32_t dims[4];
    tensor_dtype dtype;
    graph_pitches from, to;
} graph_reordering;

void graph_reorder(arena *a, const graph_reordering *r, uint32_t src,
                   uint32_t dst, graph_launch *out);

/* Whether there is a conversion of elements: u8 or f32 to f16, f16 to f32. */
bool graph_can_retype(tensor_dtype from, tensor_dtype to);
/* Buffer dst = buffer src, which is `from`, as elements of type `to`. */
void graph_retype(arena *a, const tensor_desc *from, tensor_dtype to,
                  uint32_t src, uint32_t dst, graph_launch *out);

/* A launch of one of the kernels above. */
typedef struct {
    const char *entry; /* NULL: it is another launch */
    uint32_t src, dst; /* buffers */
    const graph_arg *numbers;
    uint32_t n_numbers;
    uint32_t global[3];
} graph_conversion;

void graph_conversion_of(const graph_launch *l, graph_conversion *out);
/* Of a launch from a file, with entry and arguments: the text it is compiled
 * from. False: it is no conversion of this program's. */
bool graph_restore_conversion(graph_launch *l);
/* From equal elements both make equal ones. */
bool graph_same_conversion(const graph_conversion *p,
                           const graph_conversion *q);
/* q makes of what p made what it was, bit for bit. */
bool graph_undoes_conversion(const graph_conversion *p,
                             const graph_conversion *q);

#endif
