/* Launches that need no file. */
#ifndef VPU_RUNTIME_BACKEND_WHOLE_H
#define VPU_RUNTIME_BACKEND_WHOLE_H

#include "runtime/backend/backend.h"

/* Launch l with its kernel in memory: a conversion as it is, a compiled kernel
 * as its bytes (graph_launch.bin), anything else as text with includes and
 * macros resolved (graph_launch.given), whose lines are those of the source;
 * or, compiled, as the .bin made of it. Of cfg, source_dir, compile and log are
 * looked at. In the arena.
 *
 * Errors of backend_source_of, preprocess, kernel_compile and kernel_build_bin
 */
vpu_status backend_whole(const backend_config *cfg, const graph_launch *l,
                         bool compiled, arena *a, graph_launch *out,
                         vpu_error *err);

#endif
