/* A checker's finding in the user's terms: names of the binding, elements of
 * tensors, ids. Internal to runtime/check. */
#ifndef VPU_RUNTIME_CHECK_DESCRIBE_H
#define VPU_RUNTIME_CHECK_DESCRIBE_H

#include "runtime/check/layer.h"

/* Copies all of it into the arena. */
void check_describe(const check_finding *f, const graph *g, arena *a,
                    check_shown *out);

#endif
