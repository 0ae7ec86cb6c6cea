/* The SHAVEs of a launch on host threads, in rounds: in each, every SHAVE that
 * has groups left runs some, and what they did is appended to its queue. */
#ifndef VPU_SIM_EXEC_ROUNDS_H
#define VPU_SIM_EXEC_ROUNDS_H

#include <stdatomic.h>

#include "sim/exec/shave.h"
#include "sim/exec/threads.h"

enum { ROUNDS_MAX_THREADS = 64 };

typedef struct rounds_launch {
    const exec_launch *launch;
    const mach_desc *desc;
    memory *mem;
    print_log *prints; /* NULL: nobody wants them */
    sim_variant_kind variant;
    exec_shave_code codes[SIM_N_VARIANTS];
    size_t interpreted_bytes; /* of exec_shave.interpreted */
    profile_launch *profile;  /* NULL: none */
    trc_writer *trace;        /* NULL: none */
    exec_sample *sample;      /* NULL: nobody wants one */
    mach_record *record;      /* likewise */
    exec_shave_sees sees;
    bool in_order; /* an observer needs one host thread */
    bool profiled; /* an observer wants the cycles of lines */
    exec_shave *shaves;
    uint32_t n_shaves;
    atomic_bool stop;
    /* They take SHAVEs of the current round one by one. */
    exec_threads *threads; /* NULL: there is only this one */
    uint32_t n_threads;    /* beside this one */
    uint64_t turn;         /* of EXEC_IN_RANDOM_TURN: state of its generator */
    atomic_uint next_shave;
    /* Rounds ahead of the clock: while it is advanced over the steps of one
     * round, other threads run the next into queues of its own. */
    bool ahead;   /* wanted */
    bool running; /* a round is */
    uint32_t round_steps;
    mach_queue *next;
    bool faulted;    /* refill said so */
    bool gave_up;    /* a round was left undone */
    double deadline; /* of the host's clock */
    double groups_s; /* of exec_result */
    atomic_bool timed_out, cancelled;
} rounds_launch;

/* With r's SHAVEs and r->next set up. rounds_end frees what there is, and gives
 * up a round that nobody waited for. */
void rounds_start(rounds_launch *r);
void rounds_end(rounds_launch *r);
/* Tells the log the first write behind an array that was passed over. */
void rounds_note_overrun(const rounds_launch *r);
/* Gives on what is printed and before what is still to come: in sequential
 * order soon, in others when all is done. */
void rounds_deliver_prints(rounds_launch *r, bool all);
/* mach_refill; user is the rounds_launch. VPU_ERR_FAULT, VPU_ERR_LIMIT: what
 * stopped a SHAVE (`faulted` is set), with the work-group and the cause.
 * VPU_ERR_NOMEM. */
vpu_status rounds_refill(void *user, mach_queue *queues, uint32_t n,
                         vpu_error *err);

#endif
