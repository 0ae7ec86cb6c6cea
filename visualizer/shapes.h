/* Names and kinds of arguments, in order: kept once for all slices that have
 * the same. Private to the visualizer.
 *
 * A shape is another one and an argument more, so they are a tree; the root,
 * shape 0, has none. */
#ifndef VPU_VISUALIZER_SHAPES_H
#define VPU_VISUALIZER_SHAPES_H

#include "base/slots.h"
#include "visualizer/timeline.h"

typedef struct {
    uint32_t parent;
    tl_arg_key key;  /* of the argument that the parent does not have */
    uint32_t likely; /* the last that was made of this one, or asked for; 0 */
    uint32_t n;      /* arguments */
} tl_shape;

typedef struct tl_shapes {
    tl_shape *nodes; /* the root first */
    uint64_t n, cap;
    slots slots; /* by parent and key */
} tl_shapes;

/* NULL: out of memory. */
tl_shapes *tl_shapes_create(void);
void tl_shapes_free(tl_shapes *s);
uint64_t tl_shapes_bytes(const tl_shapes *s);

/* As tl_shape_with, of one that is not likely. */
uint32_t tl_shape_find(tl_shapes *s, uint32_t shape, tl_arg_key key);

/* The shape with an argument more; 0: out of memory. */
static inline uint32_t tl_shape_with(tl_shapes *s, uint32_t shape,
                                     tl_arg_key key)
{
    uint32_t likely = s->nodes[shape].likely;

    return likely && s->nodes[likely].key == key ? likely
                                                 : tl_shape_find(s, shape, key);
}

#endif
