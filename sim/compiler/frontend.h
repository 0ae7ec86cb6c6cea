/* OpenCL C to LLVM bitcode: clang, run as a subprocess.
 *
 * Target: 32-bit spir, so size_t and pointers have the device's width; half is
 * a type of its own and nothing is contracted, so every operation rounds as the
 * device's does. */
#ifndef VPU_SIM_COMPILER_FRONTEND_H
#define VPU_SIM_COMPILER_FRONTEND_H

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/log.h"

typedef struct {
    char *bitcode;
    size_t n_bytes;
    const char **deps; /* files read besides the source itself */
    uint32_t n_deps;
} fe_unit;

/* options: extra words for clang (fe_check_options), may be NULL when n is 0.
 * text: the source, NULL = that of the file source_path; a text is read as if
 * it stood in a file of that name, which is not looked at. debug: with all
 * debug information, paths as they really are. Warnings of the
 * compiler go to the log. Result in the arena.
 *
 * VPU_ERR_IO       source cannot be read, no temporary file
 * VPU_ERR_COMPILE  clang's own diagnostics, whole, positions in the user's
 * files VPU_ERR_UNSUPPORTED  clang-19 is not installed */
vpu_status fe_compile(const char *source_path, const char *text,
                      const char *const *options, uint32_t n_options,
                      bool debug, const log_sink *log, arena *a, fe_unit *out,
                      vpu_error *err);

/* Changes whenever the prelude or the options every compilation gets change. */
const char *fe_fingerprint(arena *a);

#endif
