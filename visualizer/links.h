/* What a slice waits for, and what waits for it: the phases of a work-group and
 * its transfers, a wait for DMA and the transfer that ended it. Found from
 * times and arguments of traces of ours; a trace of another program has none.
 *
 * A phase that starts transfers ends before they do; the next phase begins when
 * they have ended. Transfers inside a phase begin and end in it. */
#ifndef VPU_VISUALIZER_LINKS_H
#define VPU_VISUALIZER_LINKS_H

#include "visualizer/view.h"

typedef enum {
    LINKS_PHASE,  /* from a phase to the next one of its group */
    LINKS_STARTS, /* from a phase to a transfer that it started */
    LINKS_BRINGS, /* from a transfer to the phase that needed it */
    LINKS_ENDS    /* from a transfer to the wait that its end ended */
} links_kind;

typedef struct {
    links_kind kind;
    view_slice from, to;
    uint64_t leaves, arrives; /* ticks: where the arrow begins and ends */
} links_link;

enum {
    LINKS_MAX = 32, /* of a slice; more are left out */
    LINKS_LOOK =
        1 << 14 /* transfers of a channel that are looked at, at most */
};

/* All that have to do with the slice or with its work-group, the slice's own
 * first; how many, at most LINKS_MAX. Any thread. */
size_t links_of(const view *v, const view_slice *s, links_link out[LINKS_MAX]);
/* Along the slice's own: dir -1, to what it waited for last; 1, to what waited
 * for it first. False: nothing. */
bool links_follow(const view *v, const view_slice *s, int dir, view_slice *to);

/* The phase that a cause's slice is in, on a SHAVE. False: in none. */
bool links_phase_at(const view *v, const view_slice *cause, view_slice *phase);
/* Bytes a tick of a transfer, times ticks a nanosecond: GB/s. 0: not one. */
double links_rate(const view *v, const view_slice *transfer);

#endif
