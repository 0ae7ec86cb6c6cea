/* From a compiled translation unit to work-group functions of one kernel.
 *
 * Picks the kernel and its __dma_preload_ / __dma_postwrite_ companions,
 * inlines everything, expands built-ins, optimises as a compiler for this
 * device would (never unrolling uninvited, never vectorizing but over
 * work-items), and builds the variants. What comes out is still device IR:
 * 32-bit pointers in four address spaces. */
#ifndef VPU_SIM_COMPILER_MIDDLE_MIDDLE_H
#define VPU_SIM_COMPILER_MIDDLE_MIDDLE_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sim/compiler/abi/types.h"

typedef struct {
    LLVMModuleRef module;
    struct {
        LLVMValueRef fn; /* NULL = it does not exist, or is not run */
        uint32_t item_bytes;
    } variants[SIM_N_VARIANTS];
    LLVMValueRef *twice; /* __local arrays that groups take turns in */
    uint32_t n_twice;
} middle_unit;

/* What else than code to run and to time is wanted; all NULL: nothing. */
typedef struct {
    const sim_debug *debug;       /* only what a debugger wants: scalar, nothing
                                     optimised */
    const sim_checking *checking; /* scalar, telling of what it does */
    sim_sites *sites;             /* where: filled, in sites_arena */
    arena *sites_arena;
    bool structures; /* by value may be arguments: sim_arg.object_bytes */
    str *lines; /* with debug->lines: where its texts are appended, each with
                   its NUL */
} middle_mode;

typedef struct {
    const char *path, *entry; /* of the source; of the kernel in it */
    middle_mode mode;
    arena *a;
    /* The local size that the code is for: of a variant that launches of it do
     * not run no more is made known than its factor. NULL: for all. */
    const uint32_t *local;
    /* Filled with what the source tells: arguments, required size, variants and
     * their factors, the vectorizer's reason, atomics. */
    sim_kernel *kernel;
} middle_job;

/* Takes module over (frees it on failure).
 *
 * VPU_ERR_COMPILE  no such kernel, unknown function, recursion, companions with
 *                  another signature */
vpu_status middle_build(LLVMModuleRef module, const middle_job *job,
                        middle_unit *out, vpu_error *err);

typedef struct {
    const char *name; /* for messages */
    const char *bytes;
    size_t n;
} middle_bitcode;

/* The kernels without __dma_ prefix in bitcode, in their order; *n of them. In
 * the arena.
 *
 * VPU_ERR_PARSE  damaged */
vpu_status middle_kernels(const middle_bitcode *b, arena *a,
                          const sim_signature **out, uint32_t *n,
                          vpu_error *err);
/* Several as one. In the arena.
 *
 * VPU_ERR_PARSE    one is damaged
 * VPU_ERR_COMPILE  they do not fit: the linker's message */
vpu_status middle_link(const middle_bitcode *parts, uint32_t n, arena *a,
                       middle_bitcode *out, vpu_error *err);
/* The name of the only kernel without __dma_ prefix, in the arena.
 *
 * VPU_ERR_COMPILE  there are none, or several: the message names them */
vpu_status middle_only_kernel(LLVMModuleRef module, const char *path, arena *a,
                              const char **out, vpu_error *err);

#endif
