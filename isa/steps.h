/* A program as the interpreter executes it: steps, one behind the other. A step
 * is a function that knows its operation and type, and where its operands lie.
 * prepare.c makes them of a program. Private to isa/. */
#ifndef VPU_ISA_STEPS_H
#define VPU_ISA_STEPS_H

#include "isa/interp.h"
#include "isa/results.h"

typedef struct isa_machine isa_machine;
typedef struct isa_step isa_step;

/* Returns the step to go on with; NULL: the block ends. */
typedef const isa_step *isa_run_step(isa_machine *m, const isa_step *s);

struct isa_step {
    isa_run_step *run;
    uint32_t dst, a, b, c; /* places: bytes from the machine's begin on */
    int32_t imm;
    uint32_t extra; /* as the step's function says */
};

/* A global access that was made but not reported yet. */
typedef struct {
    int64_t iteration; /* of a software-pipelined loop, else 0 */
    uint32_t seq, line, addr, bytes;
    bool store;
} isa_access;

/* Of a global access, what is known before it happens. */
typedef struct {
    int64_t iteration; /* less the machine's step */
    uint32_t seq, line, bytes;
    bool store;
} isa_noted;

/* A result on its way to a register that somebody still reads, or writes. */
typedef struct {
    isa_value value;
    uint32_t to; /* place */
    bool vector;
} isa_owed;

typedef struct {
    const isa_step *steps;
} isa_block_steps;

struct isa_code {
    const isa_function *f;
    const isa_block_steps *blocks;
    const isa_noted *noted;
    const uint32_t *immediates; /* ascending */
    uint32_t n_immediates;
    /* Results that can be owed for one cycle, and cycles ahead, a power of two.
     */
    uint32_t n_owed, n_slots;
    size_t log_size; /* accesses waiting to be reported, at most */
};

enum {
    /* For results of one bundle, until all its operands are read. */
    ISA_N_KEPT = ISA_N_UNITS * ISA_MAX_DST
};

/* What a run knows. Behind its end lie the immediates, then results on their
 * way, then accesses to be reported. */
struct isa_machine {
    isa_value v[ISA_N_VREGS], kept_v[ISA_N_KEPT];
    uint32_t i[ISA_N_IREGS], kept_i[ISA_N_KEPT], sp;
    uint8_t *window;
    const uint8_t (*vectors)[ISA_VECTOR_BYTES];
    const isa_env *env;
    const isa_code *code;
    uint64_t start, now; /* cycle of the block's start; of the last step of time
                          */
    isa_owed *owed;
    uint32_t owing;                /* results on their way */
    uint16_t n_owed[ISA_MAX_WAIT]; /* by slot: the cycle's low bits */
    uint32_t args[ISA_MAX_CALL_ARGS], n_args, ret[ISA_MAX_CALL_RETS];
    isa_access *log; /* by iteration, then seq */
    size_t n_log;
    int64_t step; /* of a pipelined loop, at the start of the block */
    /* How the block ends. */
    bool taken, returned, stopped;
    uint32_t target, repeat;
    isa_value behind[]; /* aligns what follows */
};

/* The function for an operation that does more than compute, one that only
 * computes, or, where nothing was made for it, any that computes: the step's
 * extra is its number in the program then. */
isa_run_step *isa_step_of(const isa_instr *in);
isa_run_step *isa_step_for_result(const isa_instr *in);
isa_run_step isa_step_any;

/* Steps that are no operation:
 *   end    of the block
 *   time   goes on to cycle imm of the block: what is due gets its register
 *   watch  tells of the bundle of extra operations from number imm on, which
 *          issues in cycle a
 *   unless goes on extra steps further when a is not as imm says (pred)
 *   skip   goes on extra steps further
 *   move_word, move_vector, owe_word, owe_vector
 *          of a to dst, at once, or extra cycles later
 *   check  ends the block when somebody has stopped the run */
isa_run_step isa_step_end, isa_step_time, isa_step_watch, isa_step_unless,
    isa_step_skip, isa_step_move_word, isa_step_move_vector, isa_step_owe_word,
    isa_step_owe_vector, isa_step_check;

/* Reports accesses of iterations up to `last`. */
void isa_report(isa_machine *m, int64_t last);

/* --- places -------------------------------------------------------------- */

ISA_BUILT_IN uint32_t isa_get(const isa_machine *m, uint32_t place)
{
    uint32_t bits;

    memcpy(&bits, (const uint8_t *)m + place, sizeof bits);
    return bits;
}

ISA_BUILT_IN void isa_put(isa_machine *m, uint32_t place, uint32_t bits)
{
    memcpy((uint8_t *)m + place, &bits, sizeof bits);
}

ISA_BUILT_IN isa_value isa_get_vector(const isa_machine *m, uint32_t place)
{
    isa_value v;

    memcpy(&v, (const uint8_t *)m + place, sizeof v);
    return v;
}

ISA_BUILT_IN void isa_put_vector(isa_machine *m, uint32_t place, isa_value v)
{
    memcpy((uint8_t *)m + place, &v, sizeof v);
}

#endif
