/* A checker's finding in the user's terms: names of the binding, elements of
 * tensors, ids. Internal to runtime/check. */
#ifndef VPU_RUNTIME_CHECK_DESCRIBE_H
#define VPU_RUNTIME_CHECK_DESCRIBE_H

#include "runtime/check/layer.h"

/* Copies all of it into the arena. */
void layer_check_describe(const check_finding *f, const graph *g, arena *a,
                          layer_check_shown *out);

/* Work-groups of a launch in each dimension; all of them. */
uint64_t layer_check_groups(const graph_launch *l, uint32_t n[3]);
/* Coordinates of a linear number. */
void layer_check_split(uint64_t linear, const uint32_t n[3], uint32_t out[3]);
/* "[0,3,17,512]" of the element a byte belongs to; one outside counts on along
 * the innermost dimension from the nearest inside, and *beyond says how. */
void layer_check_put_element(const tensor_desc *d, int64_t offset, str *out,
                             str *beyond);

#endif
