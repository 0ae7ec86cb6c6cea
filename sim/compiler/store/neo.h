/* The SHAVE metadata sections of a compiled kernel, as host software for the
 * stick reads them (docs/formats.md, "Metadata of 2021 and later"). */
#ifndef VPU_SIM_COMPILER_STORE_NEO_H
#define VPU_SIM_COMPILER_STORE_NEO_H

#include "base/arena.h"
#include "sim/compiler/abi/types.h"

/* `.neo_metadata` and `.neo_metadata.str` of one kernel, in the arena. */
void neo_build(const sim_kernel *k, arena *a, uint8_t **meta, size_t *n_meta,
               char **strings, size_t *n_strings);

#endif
