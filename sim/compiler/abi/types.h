/* What a compiled kernel is, and which kinds of code there are: the data that
 * the compiler's rooms and their users share. */
#ifndef VPU_SIM_COMPILER_ABI_TYPES_H
#define VPU_SIM_COMPILER_ABI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/abi/site.h"

/* The variants a device binary has (docs/formats.md, "Metadata of 2021 and
 * later"). The vendor's compiler also makes an unrolled one, a fallback for DMA
 * and two for SIPP; this compiler makes none of these. */
typedef enum {
    SIM_SCALAR,
    SIM_VECTORIZED,
    SIM_PRELOAD,
    SIM_POSTWRITE,
    SIM_N_VARIANTS
} sim_variant_kind;

const char *sim_variant_name(sim_variant_kind k);

/* Of a kernel. */
enum { SIM_MAX_ARGS = 128 };

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
    uint32_t object_bytes;  /* CONSTANT: the argument is a structure by value of
                               so many bytes (as a SHAVE lays them out, pointers
                               and size_t of 32 bits), the address is of its
                               bytes in device memory; 0 = it is a pointer */
    bool is_float;          /* scalar half or float */
    bool is_signed;
    bool is_const; /* pointer to const */
    bool twice;    /* LOCAL: groups take turns in two of it, as the kernel has
                      phases that fill or empty it */
} sim_arg;

/* Each variant's factor divides it. */
enum { SIM_MOST_FACTOR = 8 };

typedef struct {
    bool present;
    uint32_t factor;      /* items of dimension 0 per run of the item code */
    uint32_t stack_bytes; /* private arrays left after optimisation */
    uint32_t item_bytes;  /* kept across barriers, per factor items */
    uint32_t n_bundles;   /* operations' cycles summed, for information; 0: no
                             program was made */
    sim_wg_fn *fn;        /* NULL: none for this machine, sim_lacks_code */
} sim_variant;

typedef struct {
    const char *name;
    uint32_t offset, bytes;
    bool twice; /* as sim_arg.twice */
} sim_local_array;

/* A copy between global and local memory in the kernel itself. */
typedef struct {
    const char *array;      /* its local end; "" = not one array */
    uint32_t line;          /* in the source */
    bool in;                /* into local memory */
    sim_variant_kind phase; /* in which it happens; SIM_SCALAR: where it
                               stands (sim/compiler/middle/hoist.h) */
    const char *why;        /* it is not in a phase of its own; or NULL */
} sim_copy;

/* Bytes behind an array in local memory that show an overrun (sim/exec/cmx.h):
 * the widest store there is; and how many arrays of a program may have them. */
enum { SIM_LOCAL_GUARD = 32, SIM_MAX_GUARDS = 64 };
/* Arrays lie at multiples of the first; of what their type asks for, the
 * second at most, that of long16. */
enum { SIM_ALIGN = 16, SIM_MOST_ALIGN = 128 };

/* What a kernel's signature says besides, as in the source. */
typedef struct {
    const char *name;
    /* "reqd_work_group_size(8,1,1) vec_type_hint(float4)", or "". */
    const char *attributes;
    const char *const *qualifiers; /* of each argument: "const restrict", "" */
    uint32_t n_args;
} sim_signature;

typedef struct sim_kernel {
    const char *name, *source;
    uint32_t line; /* of its definition in that file; 0 = in another one */
    sim_arg *args;
    uint32_t n_args, args_bytes;
    sim_variant variants[SIM_N_VARIANTS];
    const char *not_vectorized; /* why, with position; NULL when it was */
    sim_local_array *locals;    /* __local arrays of the program */
    uint32_t n_locals;
    sim_copy *copies; /* of code for a debugger or for checking: none */
    uint32_t n_copies;
    bool hoisted; /* its phases are made of its copies, not of functions of the
                     source */
    uint32_t local_bytes; /* as the device packs them */
    uint32_t local_span;  /* as they lie here, with guards */
    uint32_t guard;       /* bytes behind each array that nobody may write to */
    const uint8_t *const_data; /* __constant data */
    uint32_t const_bytes;
    uint32_t reqd_local[3]; /* reqd_work_group_size, 0 = none */
    bool global_atomics;    /* groups must run in one fixed order */
    bool from_cache;
    bool debug; /* code for a debugger */
    bool roomy; /* private data may be more than the device's CMX holds */
    const sim_sites *sites; /* of code compiled for checking; else NULL */
    /* Of code with sim_debug.lines: the texts that its lines are told by
     * (exec_observer.line), each with its NUL; else NULL. */
    const char *lines;
    size_t lines_bytes;
    struct jit *jit;     /* owns the code; kernel_release */
    const uint8_t *code; /* the code itself, NULL = none was loaded */
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

/* Which variant the groups of a launch run: vectorized when the kernel has it
 * and local[0] is a multiple of its factor. Every local[0] of one
 * sim_size_class is answered alike, whatever the kernel. */
sim_variant_kind sim_pick_variant(const sim_kernel *k, const uint32_t local[3]);
uint32_t sim_size_class(const uint32_t local[3]);
/* Does a launch of this local size run that variant, as phases or groups? NULL:
 * one of some size. */
bool sim_runs_variant(const sim_kernel *k, sim_variant_kind v,
                      const uint32_t local[3]);
/* Was the kernel compiled for other local sizes alone
 * (kernel_compile_config.local)? */
bool sim_lacks_code(const sim_kernel *k, const uint32_t local[3]);

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

#endif
