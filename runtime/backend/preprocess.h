/* A kernel's text with includes and macros resolved as for the simulator. */
#ifndef VPU_RUNTIME_BACKEND_PREPROCESS_H
#define VPU_RUNTIME_BACKEND_PREPROCESS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* All of it is borrowed. */
typedef struct {
    const char *path;
    const char *text; /* the source; NULL = that of the file `path` */
    const char *const *options;
    uint32_t n_options;
} preprocess_job;

/* Lines beginning with "# N" in the result say where its lines come from. Names
 * of the standard's header stay as they are. In the arena.
 *
 * VPU_ERR_UNSUPPORTED  clang is not installed
 * VPU_ERR_COMPILE      it refuses; the compiler proper says why
 * VPU_ERR_IO           no process, no memory file */
vpu_status preprocess(const preprocess_job *job, arena *a, char **out,
                      vpu_error *err);

#endif
