/* Max-min fair sharing of DDR bandwidth between running flows. Private to
 * sim/machine.
 *
 * A flow has work: the cycles it takes when nothing else runs. Its greatest
 * rate is bytes / work. While all rates fit under the capacity each flow
 * advances one cycle of work per cycle; otherwise capacity is shared max-min
 * fairly (nobody gets more while somebody who wants more has less) and a flow
 * advances at its share / greatest rate. Work and speed are Q20, finish times
 * are rounded up, so everything is exact integer arithmetic. */
#ifndef VPU_SIM_MACHINE_FLOW_H
#define VPU_SIM_MACHINE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum { FLOW_MAX = 64 + 16, FLOW_Q = 20 };

typedef struct {
    uint64_t rate;   /* greatest, bytes per cycle Q20 */
    uint64_t work;   /* left at `since`, cycles Q20 */
    uint64_t speed;  /* Q20, at most one */
    uint64_t since;  /* cycle */
    uint64_t finish; /* cycle, if nothing changes */
    bool counted;    /* takes part in the sharing */
} flow;

typedef struct {
    uint64_t capacity; /* bytes per cycle Q20 */
    uint64_t demand;   /* sum of the counted flows' greatest rates */
    flow flows[FLOW_MAX];
    uint8_t running[FLOW_MAX]; /* the counted ones' indices, in start order */
    uint32_t n_running;
    bool dirty;     /* speeds are out of date */
    bool contended; /* some speed may be below one */
} flow_set;

void flow_init(flow_set *s, uint64_t capacity);
/* Start flow i at cycle now: bytes over work cycles (both >= 1) when alone. A
 * flow that asks for more than the capacity is given the work it takes at full
 * capacity. Returns that work. Bytes must be below 2^43. */
uint64_t flow_start(flow_set *s, uint32_t i, uint64_t now, uint64_t bytes,
                    uint64_t work);
void flow_end(flow_set *s, uint32_t i);
/* Bring speeds and finish times up to date. True when any may have changed;
 * to be called before time moves on past now while dirty is set. */
bool flow_share(flow_set *s, uint64_t now);
/* Bytes per cycle Q20 that all counted flows move now. */
uint64_t flow_total(const flow_set *s);

#endif
