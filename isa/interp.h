/* The interpreter: executes a finished program bundle by bundle on real
 * register files, with the pipeline exposed as program.h describes.
 *
 * It is the twin of the compiled host code: same results, same cycles, same
 * order of global accesses (program order: a scheduled block's accesses are
 * reported when it ends, by seq; a software-pipelined loop's when their
 * iteration is complete, iteration by iteration). One run touches only what the
 * environment hands it. */
#ifndef VPU_ISA_INTERP_H
#define VPU_ISA_INTERP_H

#include "isa/program.h"

/* A program, prepared for any number of runs at a time. */
typedef struct isa_code isa_code;

typedef struct {
    uint8_t *window;       /* host address of device address 0 */
    const uint8_t *args;   /* ldarg's ISA_ARGS: the packed argument block */
    const uint32_t *group; /* ldarg's ISA_GROUP; imm is in bytes there too */
    uint32_t sp;           /* value of ISA_SP */
    void *scratch;         /* isa_scratch_size bytes, aligned for anything */
    void *user;
    /* Block number `block`, of so many cycles, starts (each time it runs).
     * Returning false stops the run. */
    bool (*block)(void *user, uint32_t block, uint32_t cycles);
    /* A global access (ISA_GLOBAL), see above for the order; line is the
     * operation's. */
    void (*global)(void *user, uint32_t line, uint32_t addr, uint32_t bytes,
                   bool store);
    /* The n operations of a bundle (never 0) issue, `cycle` cycles after the
     * run's start. Only of a program prepared for it; NULL: nobody looks. */
    void (*bundle)(void *user, uint64_t cycle, const isa_instr *in, uint32_t n);
    /* Callee number `callee` of the function with the arguments set so far
     * (n = highest starg number + 1). ret is what ldret reads. false stops. */
    bool (*call)(void *user, uint32_t callee, const uint32_t *args, uint32_t n,
                 uint32_t line, uint32_t ret[2]);
} isa_env;

typedef enum {
    ISA_DONE,    /* ret */
    ISA_STOPPED, /* a callback said so */
    ISA_FELL_OFF /* control left the last block: a defect of the program */
} isa_outcome;

/* What program.h does not say:
 *
 *   - All of a bundle's operations read registers as they are when it issues; a
 *     result is there for bundles lat or more cycles later, across blocks too.
 *   - Loads read memory when they issue, before the stores of their bundle;
 *     stores write when they issue.
 *   - A call happens when it issues; starg of the same bundle are too late for
 *     it. Accesses in front of it are reported before it.
 *   - A step of a software-pipelined loop is as long as its kernel. The
 *     prologue's steps end with it, the epilogue's start with it; an
 *     operation's iteration is its step less its stage. A prologue that is
 *     repeated begins anew.
 *
 * Registers start as 0xdeadbeef patterns, so that reading one that was never
 * written shows. */
isa_outcome isa_run(const isa_code *c, const isa_env *env);

/* f must have passed isa_verify, and stay. watched: isa_env.bundle is to be
 * called. NULL: mem has no more. */
isa_code *isa_prepare(const isa_function *f, bool watched,
                      const isa_memory *mem);
size_t isa_scratch_size(const isa_code *c);

#endif
