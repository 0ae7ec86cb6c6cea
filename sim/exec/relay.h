/* Several who want to know what the engine does with a launch: it tells one. */
#ifndef VPU_SIM_EXEC_RELAY_H
#define VPU_SIM_EXEC_RELAY_H

#include "base/arena.h"
#include "sim/exec/exec.h"

/* Tells `first` (NULL: nobody) and the watches of the launch's observers, in
 * their order; NULL when there are none. Lives in the arena. A watch with a
 * `path` has to be the only one. */
const mach_watch *relay_watch(const mach_watch *first, const exec_launch *l,
                              arena *a);

#endif
