/* The compiled form of one kernel as bytes: what goes into a .bin and into the
 * cache, and how it is read back. Internal to sim/compiler. */
#ifndef VPU_SIM_COMPILER_STORE_ARTIFACT_H
#define VPU_SIM_COMPILER_STORE_ARTIFACT_H

#include "base/task.h"
#include "sim/compiler/abi/types.h"
#include "sim/compiler/front/frontend.h"

typedef struct {
    uint8_t *file; /* ELF, object.h */
    size_t n_bytes;
} artifact;

typedef enum {
    ARTIFACT_NO_HOST, /* as in a .bin */
    ARTIFACT_HOST,
    ARTIFACT_HOST_LINES,  /* host code that tracks source lines */
    ARTIFACT_HOST_DEBUG,  /* for a debugger; without SHAVE programs */
    ARTIFACT_HOST_CHECKED /* for checking; likewise */
} artifact_host;

/* All of it is borrowed. */
typedef struct {
    const char *bitcode; /* clang's */
    size_t n_bytes;
    const char *path;           /* for messages */
    const char *entry;          /* NULL = the only kernel */
    const char *source;         /* for a .bin: source.h's text; NULL = none */
    const char *const *options; /* that the text needs */
    uint32_t n_options;
    const char *const *deps; /* files whose content the result depends on */
    uint32_t n_deps;
    const char *compiler; /* that made it; NULL: it does not matter */
    artifact_host kind;
    const sim_debug *debug;       /* for ARTIFACT_HOST_DEBUG */
    const sim_checking *checking; /* for ARTIFACT_HOST_CHECKED */
    bool structures;              /* by value may be arguments */
    const uint32_t *local; /* host code for launches of that size; NULL = any */
    const child_limits *limits; /* NULL = budget.h's */
} artifact_job;

/* The process for artifact_build, made while the job's bitcode and deps are not
 * known yet: it loads LLVM. The calling thread gives it to artifact_build or to
 * task_drop. NULL: there is none, and artifact_build makes one. */
task_copy *artifact_begin(const artifact_job *job);
/* What clang made, before artifact_build, which is then to be given the same:
 * the copy begins to work. */
void artifact_give(const artifact_job *job, task_copy *early, arena *a);

/* Middle end, SHAVE program and host object, made in a process of its own.
 * *early: artifact_begin's for the same job, or NULL; NULL then. early NULL:
 * likewise.
 *
 * VPU_ERR_LIMIT     the limits are too small, and the sizes compiled code has
 * VPU_ERR_INTERNAL  that process died; message: how
 * the errors of kernel_compile but for those of clang */
vpu_status artifact_build(const artifact_job *job, task_copy **early, arena *a,
                          artifact *out, vpu_error *err);

/* The host object in an artifact's file; bytes NULL: it has none. */
typedef struct {
    const uint8_t *bytes;
    size_t n;
} artifact_object;

/* Describe the kernel in an artifact. host: NULL = not asked for.
 * VPU_ERR_PARSE: not one of ours, or damaged. */
vpu_status artifact_read(const uint8_t *file, size_t n_bytes, arena *a,
                         sim_kernel *k, artifact_object *host, vpu_error *err);

/* Are the recorded dependencies unchanged, and is the compiler the same? NULL:
 * there is none any more, and what it made is still good. */
bool artifact_holds(const uint8_t *file, size_t n_bytes, const char *compiler);

/* A .bin as the cache keeps it: with job's dependencies and compiler, which it
 * does not name itself. */
void artifact_wrap(const artifact_job *job, const uint8_t *bin, size_t n_bytes,
                   arena *a, artifact *out);
/* The .bin in it, in file; false: none, or it does not hold (artifact_holds).
 */
bool artifact_unwrap(const uint8_t *file, size_t n_bytes, const char *compiler,
                     const uint8_t **bin, size_t *n);

/* Symbol of a variant in the host object. */
void artifact_symbol(sim_variant_kind k, char out[32]);

/* The processor that host objects are made for: part of cache keys, as host
 * code of another one need not run here. In a. */
const char *artifact_host_cpu(arena *a);

#endif
