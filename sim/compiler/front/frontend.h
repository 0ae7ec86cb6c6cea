/* OpenCL C to LLVM bitcode: clang, run as a subprocess.
 *
 * Target: 32-bit spir, so size_t and pointers have the device's width; half is
 * a type of its own and nothing is contracted, so every operation rounds as the
 * device's does. */
#ifndef VPU_SIM_COMPILER_FRONT_FRONTEND_H
#define VPU_SIM_COMPILER_FRONT_FRONTEND_H

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/err.h"
#include "base/log.h"
#include "sim/compiler/front/clang.h"

typedef struct {
    char *bitcode;
    size_t n_bytes;
    const char **deps; /* files read besides the source itself */
    uint32_t n_deps;
} fe_unit;

/* Called while clang runs; each may be NULL. Both may be called again: clang
 * may be run once more. */
typedef struct {
    void (*begun)(void *user);
    /* That is what fe_compile returns unless it fails. clang takes some
     * milliseconds more to end, and this may not be called. */
    void (*compiled)(void *user, const fe_unit *unit);
    void *user;
} fe_meanwhile;

/* All of it is borrowed. */
typedef struct {
    const char *path; /* of the source */
    /* The source itself, NULL = that of the file. A text is read as if it stood
     * in a file of that name, which is not looked at. */
    const char *text;
    const char *const *options; /* extra words for clang (fe_check_options) */
    uint32_t n_options;
    bool debug; /* with all debug information, paths as they really are */
    const child_limits *limits; /* NULL = budget.h's */
    const log_sink *log;        /* warnings of the compiler */
    fe_meanwhile meanwhile;
} fe_job;

/* Result in the arena.
 *
 * VPU_ERR_IO           source cannot be read, no temporary file
 * VPU_ERR_COMPILE      clang's own diagnostics, whole, positions in the user's
 *                      files
 * VPU_ERR_LIMIT        clang took more time or memory than it may
 * VPU_ERR_UNSUPPORTED  clang-19 is not installed */
vpu_status fe_compile(const fe_job *job, arena *a, fe_unit *out,
                      vpu_error *err);

/* The same source as the plain text of source.h: what compiles to the same
 * without its includes, -D and -I. In the arena.
 *
 * VPU_ERR_UNSUPPORTED  it has no such form (message: why)
 * the errors of fe_compile */
vpu_status fe_preprocess(const fe_job *job, arena *a, char **out,
                         vpu_error *err);

/* The words of that command line which say in what language a kernel is, for
 * other programs that read kernels with clang. Static. */
const char *const *fe_language_options(uint32_t *n);
/* Changes whenever the prelude or the options every compilation gets change. */
const char *fe_fingerprint(arena *a);
/* Changes whenever the clang on the PATH does; NULL: there is none. */
const char *fe_clang_fingerprint(arena *a);

#endif
