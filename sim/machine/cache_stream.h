/* Rounds of a repetition that only look up lines of L2, many at once. */
#ifndef VPU_SIM_MACHINE_CACHE_STREAM_H
#define VPU_SIM_MACHINE_CACHE_STREAM_H

#include "sim/machine/cache_repeat.h"

/* Fills r->streams; its `most` is 0 where r->late.ops are other things, too, or
 * cannot be looked up as streams. */
void repeat_streams_plan(repetition *r, const cache_level *l2);
/* The next n <= r->streams.most rounds. */
void repeat_streams_run(const repetition *r, cache_batch *b, uint32_t n);

#endif
