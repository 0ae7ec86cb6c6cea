/* Max-min fair sharing of DDR, its bandwidth and its banks, between running
 * flows. Private to sim/machine.
 *
 * A flow has work: the cycles it takes when nothing else runs. In that time it
 * moves bytes and keeps banks busy; these amounts by its work are what it takes
 * of each resource in a cycle. The resources are the interface (capacity bytes
 * a cycle) and each bank (one cycle a cycle). While every resource has enough
 * each flow advances one cycle of work per cycle; otherwise the scarce one is
 * shared max-min fairly (nobody gets more while somebody who wants more has
 * less), scarcest first, and a flow advances as slowly as its scarcest resource
 * lets it.
 *
 * Requests that block their flow also queue for banks that are not scarce. Of a
 * bank that others keep busy for the share U of time, one waits
 * U / (1 - U) * half a service (M/D/1), which slows the flow.
 *
 * DMA transfers share what they get of the interface by age, the oldest first.
 * Equal shares would lock equal transfers into step, with all channels waiting
 * for their first byte at once; line by line they drift apart until they do
 * not.
 *
 * Where nothing is scarce, only queues change when a flow starts or ends. Then
 * speeds may be out of date for up to 1/128 of the shortest flow's length: so
 * steps of different SHAVEs that begin shortly after each other, or where
 * others ended, are taken together. (Measured: less than 1/10000 of a launch's
 * cycles; docs/timing.md.)
 *
 * Rates, work and speed are Q20, finish times are rounded up, so everything is
 * exact integer arithmetic. */
#ifndef VPU_SIM_MACHINE_FLOW_H
#define VPU_SIM_MACHINE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/desc.h"
#include "sim/machine/steps.h"

enum {
    FLOW_MAX = 64 + 16,
    FLOW_Q = 20,
    FLOW_BUS = MACH_MAX_BANKS, /* banks come first */
    FLOW_N_RESOURCES,
    FLOW_LANES = 4, /* places that one vector has, a bundle */
    FLOW_BUNDLES = FLOW_MAX / FLOW_LANES
};

/* What a flow needs in all. */
typedef struct {
    uint64_t bytes;                     /* below 2^43 */
    uint32_t banks;                     /* a bit for each that it keeps busy */
    uint64_t bank_busy[MACH_MAX_BANKS]; /* cycles, each below 2^43 */
    /* Of so many requests the flow stands still for so many, and for that part
     * of bank_busy. */
    uint64_t requests, blocking;
    bool dma;
} flow_need;

typedef struct {
    uint32_t rate[FLOW_N_RESOURCES]; /* greatest, per cycle Q20 */
    uint32_t banks;                  /* with a rate, bits */
    uint32_t place;                  /* in flow_at_bank, while it is counted */
    bool dma;
    uint64_t length; /* cycles with every resource to itself */
    uint64_t work;   /* left at `since`, cycles Q20 */
    uint64_t speed;  /* Q20, at most one */
    uint64_t since;  /* cycle */
    uint64_t finish; /* cycle, if nothing changes */
    bool counted;    /* takes part in the sharing */
    uint32_t lost;   /* of each cycle, to busy banks, Q20 */
} flow;

/* What the counted flows ask of a bank, each at its place; 0 where none is. As
 * doubles, for arithmetic of several flows at once. */
typedef struct {
    double rate[FLOW_MAX];  /* of the bank's time */
    double queue[FLOW_MAX]; /* Q9, half the blocking part of rate */
    /* Flows in each bundle that use the bank. No bytes: where one is written,
     * compilers read all again, as it may be a part of anything. */
    uint16_t n[FLOW_BUNDLES];
    uint16_t n_all;
} flow_at_bank;

/* What a flow of so much work asks of a bank that it keeps busy for so long, as
 * flow_at_bank has it. */
typedef struct {
    uint64_t busy, work, requests, blocking;
    double rate, half_blocking; /* Q20 */
} flow_bank_share;

/* Speeds that queues made of a bundle's flows before: short steps meet in the
 * same ways again and again. */
enum { FLOW_MEMOS = 32, FLOW_MEMO_BANKS = 3 };
typedef struct {
    uint32_t n_banks; /* 0: nothing yet */
    double allowed[FLOW_LANES], speed[FLOW_LANES];
    double uses[FLOW_MEMO_BANKS][2][FLOW_LANES]; /* rate, queue */
} flow_memo;

typedef struct {
    uint64_t capacity[FLOW_N_RESOURCES]; /* per cycle Q20 */
    uint64_t demand[FLOW_N_RESOURCES];   /* sum of the counted flows' rates */
    uint32_t over;   /* resources of which there is not enough, bits */
    uint32_t queued; /* banks at which queues may form, bits */
    uint32_t met;    /* banks that several counted flows use, bits */
    uint32_t n_banks;
    flow_bank_share last_share;
    flow flows[FLOW_MAX];
    uint16_t running[FLOW_MAX]; /* the counted ones' indices, in start order */
    uint32_t n_running;
    bool taken[FLOW_MAX]; /* places */
    flow_at_bank at_banks[MACH_MAX_BANKS];
    uint64_t shortest;  /* at most the least length of a running flow */
    bool dirty;         /* speeds are out of date */
    uint64_t due;       /* cycle: no later they are to be brought up to date */
    bool contended;     /* some speed may be below one */
    bool scarce;        /* some is because a resource is not enough */
    bool slowed;        /* some is below one */
    uint64_t shared_at; /* cycle from which on flow.lost counts */
    uint64_t bank_lost; /* cycles Q20 that flows but DMA's lost to busy banks */
    flow_memo memos[FLOW_MEMOS];
} flow_set;

/* capacity: of the interface, bytes per cycle Q20. */
void flow_init(flow_set *s, uint64_t capacity, uint32_t n_banks);
/* Start flow i at cycle now: the need over work cycles (>= 1) when alone. A
 * flow that asks for more than a resource has is given the work it takes with
 * all of it. */
void flow_start(flow_set *s, uint32_t i, uint64_t now, const flow_need *need,
                uint64_t work);
void flow_end(flow_set *s, uint32_t i, uint64_t now);
/* Bring speeds and finish times up to date; to be called before time moves on
 * past due while dirty is set. False: finish times are what they were. */
bool flow_share(flow_set *s, uint64_t now);
/* Cycles that flows that ended, but for DMA's, lost to busy banks. */
uint64_t flow_lost_to_banks(const flow_set *s);
/* Bytes per cycle Q20 that all counted flows move now. */
uint64_t flow_total(const flow_set *s);
/* And for how much of the time they keep each bank busy, Q20, one at most. */
void flow_bank_totals(const flow_set *s, uint64_t share[MACH_MAX_BANKS]);

#endif
