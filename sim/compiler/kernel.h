/* A compiled kernel: what the runtime needs to know of it, and its code.
 *
 * Kernels come from OpenCL C (sim_kernel_compile) or from our .bin files
 * (sim_kernel_load). Results are cached on disk, keyed by content, options,
 * version and host processor; includes are checked by content too. */
#ifndef VPU_SIM_COMPILER_KERNEL_H
#define VPU_SIM_COMPILER_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"
#include "sim/base/arena.h"
#include "sim/base/child.h"
#include "sim/base/err.h"
#include "sim/base/log.h"
#include "sim/compiler/hostabi.h"
#include "sim/compiler/site.h"

/* The variants a device binary has (custom-layer.md 10.2). The unrolled and
 * fallback ones are the vendor compiler's business. */
typedef enum {
    SIM_SCALAR,
    SIM_VECTORIZED,
    SIM_PRELOAD,
    SIM_POSTWRITE,
    SIM_N_VARIANTS
} sim_variant_kind;

const char *sim_variant_name(sim_variant_kind k);

typedef enum {
    SIM_ARG_SCALAR,   /* by value */
    SIM_ARG_GLOBAL,   /* device address in DDR */
    SIM_ARG_CONSTANT, /* likewise */
    SIM_ARG_LOCAL     /* device address in CMX */
} sim_arg_space;

typedef struct {
    const char *name, *type; /* as in the source */
    sim_arg_space space;
    uint32_t bytes;         /* of the value; 4 for addresses */
    uint32_t offset;        /* in the packed argument block */
    uint32_t element_bytes; /* pointed-to element, 0 = unknown */
    bool is_float;          /* scalar half or float */
    bool is_signed;
    bool is_const; /* pointer to const */
} sim_arg;

typedef struct {
    bool present;
    uint32_t factor;      /* items of dimension 0 per run of the item code */
    uint32_t stack_bytes; /* private arrays left after optimisation */
    uint32_t item_bytes;  /* kept across barriers, per factor items */
    uint32_t n_bundles;   /* operations' cycles summed, for information */
    sim_wg_fn *fn;
} sim_variant;

typedef struct {
    const char *name;
    uint32_t offset, bytes;
} sim_local_array;

typedef struct sim_kernel {
    const char *name, *source;
    sim_arg *args;
    uint32_t n_args, args_bytes;
    sim_variant variants[SIM_N_VARIANTS];
    const char *not_vectorized; /* why, with position; NULL when it was */
    sim_local_array *locals;    /* __local arrays of the program */
    uint32_t n_locals, local_bytes;
    const uint8_t *const_data; /* __constant data */
    uint32_t const_bytes;
    uint32_t reqd_local[3]; /* reqd_work_group_size, 0 = none */
    bool global_atomics;    /* groups must run in one fixed order */
    bool from_cache;
    bool debug; /* code for a debugger */
    bool roomy; /* private data may be more than the device's CMX holds */
    const sim_sites *sites; /* of code compiled for checking; else NULL */
    void *jit;              /* owns the code; sim_kernel_release */
    const uint8_t *code;    /* the code itself, NULL = none was loaded */
    size_t code_bytes;
    const uint8_t *object; /* the ELF object it was loaded from, for those who
                              look into it; NULL = none was loaded */
    size_t object_bytes;
    /* A .bin's: those of the compiler that its source text needs. */
    const char *const *options;
    uint32_t n_options;
    const uint8_t *program; /* its SHAVE programs, serialised */
    size_t program_bytes;
} sim_kernel;

/* Code for a source-level debugger: not optimised, scalar, variables in memory
 * with DWARF that says where, registered with gdb's JIT interface as it is
 * loaded. It has no SHAVE program, so its cycles mean nothing. */
typedef struct {
    bool lines;     /* not for gdb: the code calls hooks instead (hostabi.h) */
    bool stop;      /* SIGTRAP where the item with global id `at` begins */
    uint32_t at[3]; /* x, y, z */
} sim_debug;

/* Code that tells of every access, copy and doubtful operation (hostabi.h,
 * site.h): scalar, without SHAVE programs, so its cycles mean nothing. */
typedef struct {
    bool taint;    /* follow values that nobody wrote to where they are used */
    bool nan;      /* operations whose result alone is not finite */
    bool barriers; /* nothing but collective calls: to try orders out */
} sim_checking;

typedef struct {
    const char *const *options; /* extra words for clang */
    uint32_t n_options;
    bool no_cache;
    bool track_lines; /* code notes the source line of each access: slower,
                         never cached; to find where a fault came from */
    const sim_debug *debug;       /* not NULL: for a debugger; never cached */
    const sim_checking *checking; /* not NULL: for checking; never cached */
    const sim_hooks *hooks;       /* what the code calls; NULL = no code */
    const child_limits *limits; /* of each process that compiles; NULL = 60 s of
                                   the processor's time, 2 GiB */
    const log_sink *log;
} sim_compile_config;

/* Compile `entry` of a .cl file, or find it in the cache; NULL: the only kernel
 * (besides the __dma_ ones). The kernel and its strings live in the arena; the
 * code until sim_kernel_release.
 *
 * VPU_ERR_COMPILE      clang's diagnostics; no such kernel (lists those there);
 *                      unknown function; recursion
 * VPU_ERR_UNSUPPORTED  something without host form yet
 * VPU_ERR_LIMIT        it took more time or memory than cfg->limits
 * VPU_ERR_IO           source cannot be read, no clang */
vpu_status sim_kernel_compile(const char *source, const char *entry,
                              const sim_compile_config *cfg, arena *a,
                              sim_kernel **out, vpu_error *err);

/* A file whose front end ran once, for several of its kernels. */
typedef struct sim_unit sim_unit;

/* In the arena. Errors as sim_kernel_compile's. */
vpu_status sim_unit_open(const char *source, const sim_compile_config *cfg,
                         arena *a, sim_unit **out, vpu_error *err);
/* Not for cfg->debug and cfg->checking, which want the front end otherwise. */
vpu_status sim_unit_kernel(const sim_unit *u, const char *entry,
                           const sim_compile_config *cfg, arena *a,
                           sim_kernel **out, vpu_error *err);

/* The same from OpenCL C in memory; name stands for the path in messages and
 * must be one no file has, as in "<vpusim>/convert.cl". */
vpu_status sim_kernel_compile_text(const char *name, const char *text,
                                   const char *entry,
                                   const sim_compile_config *cfg, arena *a,
                                   sim_kernel **out, vpu_error *err);

/* The same from the bytes of a .bin of ours (object_classify says OURS).
 * VPU_ERR_PARSE: damaged. */
vpu_status sim_kernel_load(const char *path, const uint8_t *file, size_t n,
                           const char *entry, const sim_compile_config *cfg,
                           arena *a, sim_kernel **out, vpu_error *err);

/* What a .bin of ours says of its kernel, programs included; without code.
 * VPU_ERR_PARSE: it is none, or damaged. In the arena. */
vpu_status sim_kernel_describe(const char *path, const uint8_t *file, size_t n,
                               arena *a, sim_kernel **out, vpu_error *err);

/* Offline compile: the .bin image. entry NULL = the only kernel (besides the
 * __dma_ ones). In the arena. From the cache unless no_cache, then without the
 * front end's warnings. */
vpu_status sim_kernel_build_bin(const char *source, const char *entry,
                                const sim_compile_config *cfg, arena *a,
                                uint8_t **file, size_t *n, vpu_error *err);

/* The SHAVE program of each variant, NULL where there is none, verified. In the
 * arena.
 *
 * VPU_ERR_PARSE  the kernel's file has none, or a damaged one */
vpu_status sim_kernel_programs(const sim_kernel *k, arena *a,
                               const isa_function *out[SIM_N_VARIANTS],
                               vpu_error *err);

void sim_kernel_release(sim_kernel *k); /* NULL is fine */

#endif
