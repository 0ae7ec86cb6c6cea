/* The engine's parts and what they share. Private to engine*.c. */
#ifndef VPU_SIM_MACHINE_ENGINE_PRIV_H
#define VPU_SIM_MACHINE_ENGINE_PRIV_H

#include "sim/machine/dram.h"
#include "sim/machine/emit.h"
#include "sim/machine/engine.h"
#include "sim/machine/flow.h"

/* When an actor is to act: the cycle, and behind it the actor's number. So the
 * least says both, and of actors at the same cycle it is the first. */
enum {
    ACTOR_BITS = 7,
    WAKES = 4 /* have their least noted */
};
#define LAST_CYCLE ((UINT64_C(1) << (64 - ACTOR_BITS)) - 3)
#define NEVER UINT64_MAX

enum {
    N_SLOTS = 2,
    MAX_CHANNELS = 16,
    MAX_OUTSTANDING = 4, /* pieces of a transfer on their way [assumed] */
    PIECE_BYTES = 256,   /* a burst of DMA [assumed] */
    MAX_STORE_BUFFER = 64
};

/* A group in the queue; positions count from the queue's head. */
typedef struct {
    uint64_t id;
    uint32_t end;
    uint32_t phase_at[MACH_N_PHASES], phase_end[MACH_N_PHASES];
    uint32_t n_transfers;
} engine_group;

/* Transfers of one phase of one slot. They start in order of number, so what
 * has not started is known by a count alone. */
typedef struct {
    uint32_t first, issued, started, ended;
} engine_phase_transfers;

/* What a RUN step takes when alone. */
typedef struct {
    uint64_t issue, l2, ddr, store; /* cycles */
    uint64_t bytes;                 /* on DDR */
} engine_run_cost;

/* How far a SHAVE is in a RUN step. */
typedef struct {
    engine_run_cost cost; /* at flow level */
    /* At transaction level. */
    uint32_t miss;                      /* the next of the step's list */
    bool reached;                       /* and its moment has come */
    uint64_t landed;                    /* cycle the last line is done */
    uint64_t issued;                    /* issue cycles accounted */
    uint64_t landing[MAX_STORE_BUFFER]; /* cycle each posted store is done */
} engine_run_progress;

/* Groups passed at once that did the same step, to be counted together. */
typedef struct {
    const mach_step *run;           /* NULL: none */
    uint64_t causes[MACH_N_CAUSES]; /* cycles of one, with its dispatch */
    uint64_t each;                  /* their sum */
    uint64_t n;                     /* not counted yet */
} engine_likes;

enum { N_LIKES = 4 };

typedef enum { CHOOSE, ENTER, STEPS, RUNNING, DRAIN, DONE } engine_shave_state;

typedef struct {
    engine_shave_state state;
    uint64_t accounted; /* accounted up to here */
    uint64_t n_loaded;  /* groups taken from the queue */
    uint64_t n_retired; /* groups done */
    uint64_t pos;       /* of the group whose phase is running, from 0 */
    mach_phase phase;
    bool any;     /* some phase has been chosen */
    bool charged; /* the step's own cycles are accounted */
    bool blocked; /* waits for transfers, since t */
    bool lone;    /* runs the queue's first group, which is no more than a RUN
                     step, and is not among those loaded */
    engine_run_progress run;
    uint32_t at; /* step in the queue, from its head */
    uint32_t loaded_end;
    engine_group groups[N_SLOTS];
    engine_phase_transfers transfers[N_SLOTS][MACH_N_PHASES];
    uint32_t open; /* transfers asked for that have not ended */
    engine_likes likes[N_LIKES];
} engine_shave;

typedef struct {
    uint32_t shave, slot, number;
    mach_phase phase;
    uint64_t group;
    mach_transfer transfer;
    uint64_t asked; /* when the SHAVE came to it */
    uint32_t told;  /* its number for the trace */
} engine_transfer;

typedef struct {
    bool busy, flowing;
    uint64_t begin;
    engine_transfer request;
    /* transaction level */
    dram_piece piece;
    uint64_t work, worked; /* cycles alone; of them for pieces issued */
    uint64_t moved;        /* bytes issued */
    uint64_t landed[MAX_OUTSTANDING];
    uint32_t n_pieces;
} engine_channel;

typedef struct {
    const mach_desc *desc;
    const mach_launch *launch;
    mach_profile *profile;
    vpu_error *err;
    emit_writer *trace;
    bool merges; /* emit_merges */
    uint64_t now;
    /* The last cycle: the launch's, or the last that a wake time holds. */
    uint64_t limit;
    uint32_t n_channels, n_actors, n_active;
    uint64_t wakes[FLOW_MAX];            /* engine_wake, or NEVER */
    uint64_t earliest[FLOW_MAX / WAKES]; /* of so many actors side by side */
    dram dram;
    flow_set flows;     /* flow level */
    dram_server server; /* transaction level */
    engine_channel channels[MAX_CHANNELS];
    engine_shave shaves[MACH_MAX_SHAVES];
    mach_queue queues[MACH_MAX_SHAVES];
    engine_transfer *waiting; /* ring of cap_waiting, a power of two */
    uint32_t waiting_head, n_waiting, cap_waiting;
} engine;

static inline void engine_set_wake(engine *e, uint32_t actor, uint64_t wake)
{
    const uint64_t *wakes = &e->wakes[actor & ~(uint32_t)(WAKES - 1)];
    uint64_t least;

    e->wakes[actor] = wake;
    least = wakes[0];
    for (uint32_t k = 1; k < WAKES; k++)
        least = wakes[k] < least ? wakes[k] : least;
    e->earliest[actor / WAKES] = least;
}

/* Any cycle behind the last is as good as another: nobody acts then. */
static inline void engine_wake(engine *e, uint32_t actor, uint64_t cycle)
{
    cycle = cycle <= LAST_CYCLE ? cycle : LAST_CYCLE + 1;
    engine_set_wake(e, actor, cycle << ACTOR_BITS | actor);
}

static inline void engine_sleep(engine *e, uint32_t actor)
{
    engine_set_wake(e, actor, NEVER);
}

/* Cycles of cause on SHAVE i, from its clock on. */
void engine_account(engine *e, uint32_t i, mach_cause cause, uint64_t cycles);

/* The SHAVE is about to do something others can see. False: the common clock
 * is not there yet; it will be called again then. */
bool engine_in_step(engine *e, uint32_t i);

static inline bool engine_all_ended(const engine_shave *s, uint64_t slot,
                                    mach_phase phase)
{
    const engine_phase_transfers *p = &s->transfers[slot][phase];

    return p->ended == p->issued;
}

/* engine_run.c: do the RUN step. False: not finished, the SHAVE sleeps. */
bool engine_run_step(engine *e, uint32_t i, const mach_step *step);

/* What the phase needs: its buffers filled and emptied, its transfer numbers
 * free for reuse. */
critical_set engine_needs(const engine *e, const engine_shave *s);

/* For the trace: SHAVE i, which has no other group, begins the compute phase of
 * one, and ends it. s->pos: the group's place among those of the SHAVE. */
void engine_begin_lone(engine *e, uint32_t i, uint64_t group);
void engine_end_lone(engine *e, uint32_t i);

/* Dispatch and RUN steps of n groups alike, which move no line, where no group
 * is told apart in the trace. False, and nothing has changed: they end behind
 * the launch's limit. */
bool engine_run_unseen(engine *e, uint32_t i, const mach_step *step,
                       uint64_t n);
/* The same of groups with `like` at the queue's head, up to the first without,
 * or that ends behind the launch's limit; but for what engine_count_likes does.
 * They are gone from the queue then. How many groups. */
uint64_t engine_run_likes(engine *e, uint32_t i);
/* engine_run_unseen of `group`, which stands for n that are told apart and
 * whose step is run. */
bool engine_run_shown(engine *e, uint32_t i, const mach_step *group,
                      const mach_step *run, uint64_t n);
/* Behind the last step: causes and accesses of engine_run_likes so far. */
void engine_count_likes(engine *e);

/* engine_dma.c */
vpu_status engine_request(engine *e, const engine_transfer *r);
void engine_channel_event(engine *e, uint32_t c);
/* Whether the transfers of SHAVE i's current group and phase whose number is
 * below that ended. */
bool engine_ended_below(const engine *e, uint32_t i, uint64_t number);

/* engine_report.c: a line "\n  SHAVE 3: ..." for each SHAVE and DMA channel
 * that is not done, what it does or waits for. */
void engine_report(const engine *e, str *out);

#endif
