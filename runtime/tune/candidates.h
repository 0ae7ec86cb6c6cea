/* Which local sizes a launch may have. */
#ifndef VPU_RUNTIME_TUNE_CANDIDATES_H
#define VPU_RUNTIME_TUNE_CANDIDATES_H

#include "runtime/graph/graph.h"
#include "runtime/tune/tune_file.h"
#include "sim/compiler/kernel.h"

enum { TUNE_MAX_ITEMS = 512 }; /* of a work-group */

typedef struct {
    const graph_launch *launch;
    const sim_kernel *kernel; /* NULL: not known, and nothing it requires */
    uint64_t local_bytes;     /* that a work-group has; of a kernel */
    uint32_t max_shaves;      /* > 0: numbers of SHAVEs from 1 on, too */
} tune_space;

/* All legal choices in a fixed order, dimension 0 changing fastest: sizes that
 * divide the global size, of TUNE_MAX_ITEMS at most, which the kernel does not
 * exclude and for which its local memory is enough. The launch's own choice is
 * the first in any case, and is not there twice. In the arena. */
const tune_choice *tune_candidates(const tune_space *s, arena *a, size_t *n);

#endif
