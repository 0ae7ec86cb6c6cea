/* A compiled kernel: what the runtime needs to know of it, and its code.
 *
 * Kernels come from OpenCL C or from our .bin files. Results are cached on
 * disk, keyed by content, options, version and host processor; includes are
 * checked by content too. */
#ifndef VPU_SIM_COMPILER_KERNEL_H
#define VPU_SIM_COMPILER_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/err.h"
#include "base/log.h"
#include "isa/program.h"
#include "sim/compiler/abi/types.h"

/* What users say of compiling. */
typedef struct {
    const char *const *options; /* extra words for clang */
    uint32_t n_options;
    bool no_cache;
    bool structures; /* by value may be arguments: sim_arg.object_bytes */
    const child_limits *limits; /* of each process that compiles; NULL = 60 s of
                                   the processor's time, 2 GiB */
} kernel_compile_options;

typedef struct {
    kernel_compile_options user;
    bool track_lines; /* code notes the source line of each access: slower;
                         to find where a fault came from */
    const sim_debug *debug;       /* not NULL: for a debugger; never cached */
    const sim_checking *checking; /* not NULL: for checking */
    const sim_hooks *hooks;       /* what the code calls; NULL = no code */
    /* The local size of its launches: of variants that they do not run neither
     * the SHAVE program nor this machine's code is made, and sim_lacks_code
     * says so of other sizes. NULL = code for any. Code for a debugger or for
     * checking is for any. */
    const uint32_t *local;
    const log_sink *log;
} kernel_compile_config;

/* A text that others are linked with: what one calls, another may define. */
typedef struct {
    const char *path, *text;
    const char *const *options; /* its own words for clang, all of them */
    uint32_t n_options;
} kernel_part;

/* What a kernel is made from: the file at path, or what is in memory. */
typedef struct {
    const char *path;  /* of text and bin: their name in messages; of text one
                          that no file has, as in "<vpusim>/convert.cl" */
    const char *entry; /* NULL: the only kernel (besides the __dma_ ones) */
    const char *text;  /* OpenCL C */
    const kernel_part *parts; /* further texts, if there is a text */
    uint32_t n_parts;
    const uint8_t *bin; /* a .bin of ours (object_classify says OURS) */
    size_t bin_bytes;
} kernel_source;

/* Compile the kernel, or find it in the cache. The kernel and its strings live
 * in the arena; the code until kernel_release. A .bin brings its own options.
 *
 * VPU_ERR_COMPILE      clang's diagnostics; no such kernel (lists those there);
 *                      unknown function; recursion
 * VPU_ERR_UNSUPPORTED  something without host form yet
 * VPU_ERR_PARSE        a damaged .bin
 * VPU_ERR_LIMIT        it took more time or memory than cfg->user.limits
 * VPU_ERR_IO           source cannot be read, no clang */
vpu_status kernel_compile(const kernel_source *source,
                          const kernel_compile_config *cfg, arena *a,
                          sim_kernel **out, vpu_error *err);

/* A file whose front end ran once, for several of its kernels. */
typedef struct kernel_unit kernel_unit;

/* In the arena. Errors as kernel_compile's. */
vpu_status kernel_unit_open(const char *source,
                            const kernel_compile_config *cfg, arena *a,
                            kernel_unit **out, vpu_error *err);
/* The same of source->text; the rest of it is not looked at but path. From the
 * cache, if it was compiled before without a warning. */
vpu_status kernel_unit_of_text(const kernel_source *source,
                               const kernel_compile_config *cfg, arena *a,
                               kernel_unit **out, vpu_error *err);
/* Several as one: what one calls, another may define. In the arena; the parts
 * may go.
 *
 * VPU_ERR_COMPILE  they do not fit: the linker's message */
vpu_status kernel_unit_link(const kernel_unit *const *parts, uint32_t n,
                            arena *a, kernel_unit **out, vpu_error *err);
/* Its kernels, in their order. In the arena.
 *
 * VPU_ERR_PARSE  a damaged unit */
vpu_status kernel_unit_kernels(const kernel_unit *u, arena *a,
                               const sim_signature **out, uint32_t *n,
                               vpu_error *err);
/* Not for cfg->debug and cfg->checking, which want the front end otherwise. */
vpu_status kernel_of_unit(const kernel_unit *u, const char *entry,
                          const kernel_compile_config *cfg, arena *a,
                          sim_kernel **out, vpu_error *err);

/* What a .bin of ours says of its kernel, programs included; without code.
 * entry is not looked at. VPU_ERR_PARSE: it is none, or damaged. In the arena.
 */
vpu_status kernel_describe(const kernel_source *bin, arena *a, sim_kernel **out,
                           vpu_error *err);

/* The image of a .bin. */
typedef struct {
    const uint8_t *bytes;
    size_t n;
} kernel_bin;

/* Offline compile of a .cl file, or of text. In the arena. From the cache
 * unless no_cache, then without the front end's warnings. Errors as
 * kernel_compile's. */
vpu_status kernel_build_bin(const kernel_source *file,
                            const kernel_compile_config *cfg, arena *a,
                            kernel_bin *out, vpu_error *err);

/* The SHAVE program of each variant, NULL where there is none or it was not
 * made (kernel_compile_config.local), verified. In the arena.
 *
 * VPU_ERR_PARSE  the kernel's file has none, or a damaged one */
vpu_status kernel_programs(const sim_kernel *k, arena *a,
                           const isa_function *out[SIM_N_VARIANTS],
                           vpu_error *err);

void kernel_release(sim_kernel *k); /* NULL is fine */

#endif
