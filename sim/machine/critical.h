/* The critical path of a launch, and the slack of its work-groups.
 *
 * While the engine runs it is told, in the order in which the engine decides
 * it, what SHAVEs do, which transfers they ask for, and at which points they
 * need which transfers. So each thing comes after all that it waits for, and
 * both questions are answered by one walk backwards.
 *
 * Path. From the end of the launch, what each cycle was waited for: on the
 * SHAVE that is done last what it did; where it waited for a transfer, the
 * transfer; before that, while channels were busy, the transfers that had the
 * channel; then what the SHAVE that asked for the first of those did until it
 * asked. The segments lie one behind the other and fill the launch.
 *
 * Slack. By how many cycles the compute phase of a group could take longer
 * without the launch ending later, when all else takes as long as it did:
 *   counted      the phases of a SHAVE follow each other in their order; what
 *                needs a transfer (a compute phase its preload and its buffers,
 *                a wait, the end of a SHAVE) begins when that has ended; a
 *                transfer begins when it was asked for and the one before it in
 *                its channel has ended; cycles in which a SHAVE waited for
 *                transfers can be used up
 *   not counted  that a step or transfer would take longer or shorter beside
 *                others (shared bandwidth of DDR, banks, lines in L2), that
 *                transfers would find another order or channel, that groups
 *                would go to other SHAVEs
 * What is counted can be added up along chains, so slacks of groups of one
 * chain are the same cycles: they do not add up.
 *
 * A group's compute phase that ends on the path has slack 0. */
#ifndef VPU_SIM_MACHINE_CRITICAL_H
#define VPU_SIM_MACHINE_CRITICAL_H

#include <stddef.h>

#include "base/err.h"
#include "sim/machine/steps.h"

typedef struct critical critical;

/* Empty. It keeps max_bytes at most, about 150 a phase and 170 a transfer.
 * NULL: memory is short. */
critical *critical_create(uint64_t max_bytes);
void critical_free(critical *c); /* NULL is fine */
/* So many groups will come. When they cannot fit nothing is kept, as if they
 * had come. c NULL is fine. */
void critical_expect(critical *c, uint64_t n_groups);

/* Enough for all work-groups that a trace tells apart by default. */
enum { CRITICAL_BYTES = 128 << 20 };

/* --- what happens --------------------------------------------------------
 * Times are cycles from the launch's begin. c NULL is fine: nobody asks. */

/* A SHAVE spends so many cycles from t on. */
void critical_cause(critical *c, uint32_t shave, uint64_t t, uint64_t cycles,
                    mach_cause cause);
void critical_phase_begin(critical *c, uint32_t shave, uint64_t t,
                          uint64_t group, mach_phase phase);
void critical_phase_end(critical *c, uint32_t shave, uint64_t t);

/* Is more asked for than when each SHAVE is done? */
bool critical_keeps(const critical *c);
/* Where it is not: the SHAVE has worked until t. */
void critical_passed(critical *c, uint32_t shave, uint64_t t);

/* Which transfers of a SHAVE: of these buffers and phases (bits), those with a
 * number below. */
typedef struct {
    uint32_t slots, phases;
    uint64_t below;
} critical_set;

typedef struct {
    uint32_t shave, slot, number; /* number: ascending in a group */
    mach_phase phase;
    uint64_t group;
    bool to_cmx;
} critical_request;

/* A SHAVE asks for a transfer at t; the number that critical_moved takes. */
uint32_t critical_asked(critical *c, uint64_t t, const critical_request *r);
/* The transfer had the channel from begin to end. */
void critical_moved(critical *c, uint32_t transfer, uint32_t channel,
                    uint64_t begin, uint64_t end);
/* A SHAVE goes on at t, where it needs those transfers; they have ended. */
void critical_needs(critical *c, uint32_t shave, uint64_t t, critical_set set);

/* --- what comes out ------------------------------------------------------ */

typedef enum {
    CRITICAL_SHAVE,    /* a SHAVE works */
    CRITICAL_TRANSFER, /* a channel moves what it waits for */
    CRITICAL_CHANNELS  /* all channels are busy, that one with this transfer */
} critical_kind;

typedef struct {
    critical_kind kind;
    uint64_t begin, end; /* cycles from the launch's begin */
    uint32_t shave;      /* of a transfer: that asked for it */
    uint32_t channel;    /* of a transfer */
    bool to_cmx;         /* of a transfer */
    mach_phase phase; /* of a SHAVE's work: the dispatch of its group first */
    uint64_t group;
    const uint64_t *by_cause; /* of a SHAVE's work: MACH_N_CAUSES, which add up
                                 to its cycles; NULL for transfers */
} critical_segment;

typedef struct {
    uint64_t group, begin, end; /* from its compute phase's begin to the end of
                                   its last phase */
    uint64_t slack;             /* cycles */
    uint32_t shave;
    bool on_path; /* its compute phase's end is */
} critical_group;

/* Borrowed from the critical. */
typedef struct {
    const critical_segment *segments; /* in order of time */
    size_t n_segments;
    const critical_group *groups; /* those of a SHAVE in order of time */
    size_t n_groups;
    uint32_t shave;      /* that is done last; of several the first */
    uint64_t slack_most; /* cycles before its end at which the first SHAVE is
                            done */
} critical_result;

/* When the launch of n_shaves has ended after that many cycles. Asked again it
 * says the same.
 *
 * VPU_ERR_LIMIT  max_bytes were too few
 * VPU_ERR_NOMEM */
vpu_status critical_finish(critical *c, uint32_t n_shaves, uint64_t cycles,
                           critical_result *out, vpu_error *err);

#endif
