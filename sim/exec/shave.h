/* One SHAVE executing its groups and recording what they did. */
#ifndef VPU_SIM_EXEC_SHAVE_H
#define VPU_SIM_EXEC_SHAVE_H

#include <stdatomic.h>

#include "sim/exec/cmx.h"
#include "sim/exec/copy.h"
#include "sim/exec/exec.h"
#include "sim/exec/fault.h"
#include "sim/exec/interp.h"
#include "sim/exec/print_log.h"
#include "sim/exec/profile.h"
#include "sim/machine/cache.h"

/* What the observers of a launch look at, together. */
typedef struct {
    bool stores, prints, stops, bundles;
} exec_shave_sees;

/* A phase of the kernel, for one engine or the other; both NULL: none. */
typedef struct {
    sim_wg_fn *fn;
    const interp_code *interp;
} exec_shave_code;

/* RUN steps without lines of DDR, of groups that did alike. */
enum { EXEC_LIKES = 16 };

typedef struct exec_shave {
    sim_wg wg; /* first: hooks get back from it */
    uint64_t log[SIM_LOG_ENTRIES];
    const exec_launch *launch;
    exec_shave_sees sees;
    memory *mem;
    mach_cache *cache;
    mach_queue *queue;
    uint32_t room; /* steps the queue may hold before a group starts */
    exec_shave_code pre, main, post;
    void *interpreted;       /* scratch of the interpreter */
    profile_shave *profile;  /* NULL: none */
    exec_sample *sample;     /* not full yet; NULL: none */
    uint8_t *args[2];        /* argument blocks of the two buffer slots */
    uint32_t cmx;            /* first address */
    uint32_t fill_bytes;     /* of CMX to make undefined before each group */
    const cmx_guard *guards; /* n_guards of them, the same on all SHAVEs */
    uint32_t n_guards;
    const cmx_guard *broken; /* FAULT_LOCAL, or the first one passed over, */
    uint64_t broken_group;   /* in this group */
    uint32_t broken_at;      /* at this address */
    uint64_t next, end;      /* positions in the launch's order */
    uint64_t stride;         /* between this SHAVE's positions */
    bool plain;              /* the order's places are the groups' numbers */
    uint64_t n_groups;       /* of the launch */
    uint32_t transfers;      /* of the current group and phase */
    copy_joined joined;      /* their events that others joined */
    /* Groups that nobody looks at one by one run in batches: one after the
     * other, and then the steps of all are made. */
    bool batches;
    bool joins; /* a step may stand for groups alike: mach_queue_join */
    /* What the queue's last group does, NULL: the next one cannot join it. */
    const mach_step *joinable;
    /* What groups did that others may do again (mach_queue_push_like); behind
     * these, what the last group did. */
    mach_step likes[EXEC_LIKES + 1];
    uint32_t n_likes, last_like;
    bool far; /* rounds may be longer: nothing else hangs on their length */
    bool unstepped;      /* the running group has no step yet */
    bool rows;           /* and one call may run several: sim_row */
    mach_record *record; /* of steps, this SHAVE's are those of: */
    uint32_t recorded_as;
    uint32_t left;    /* groups of this round */
    uint64_t charged; /* cycles of this round */
    /* Groups that have run, whose steps are still to be made. */
    uint32_t n_ran; /* entries of wg.row.ran */
    uint64_t ran_group[SIM_ROW];
    uint32_t n_unsettled; /* groups of these entries */
    uint64_t uncharged;   /* their cycles */
    uint64_t log_from;    /* entries before are looked up */
    uint32_t log_each;    /* entries of the group that ran last */
    uint64_t group;       /* running now */
    mach_phase phase;     /* and its phase */
    bool running;         /* a group is begun and not done */
    uint64_t done;        /* groups */
    fault_scope scope;
    str printed;       /* printf output of the group so far */
    print_log *prints; /* the launch's; NULL = nobody wants it */
    atomic_bool *stop; /* time is over */
} exec_shave;

/* Do its steps cost time? */
static inline bool exec_timed(const exec_shave *s)
{
    return s->launch->how.timing != EXEC_NO_TIMING;
}

/* Observer i of the launch; NULL: it does not look at the group. */
static inline const exec_observer *exec_observer_of(const exec_shave *s,
                                                    uint32_t i)
{
    const exec_observer *o = s->launch->observers[i];

    return !o->group || *o->group == s->group ? o : NULL;
}

/* For each observer that has this callback and looks at the group. */
#define EXEC_FOR_OBSERVERS(s, o, callback)                           \
    for (uint32_t each = 0; each < (s)->launch->n_observers; each++) \
        for (const exec_observer *o = exec_observer_of(s, each);     \
             o && o->callback; o = NULL)

/* Run groups until the queue holds `room` steps, the groups end, or a fault
 * (scope.kind). Called from any one thread at a time. */
void exec_shave_run(exec_shave *s);

#endif
