/* Amounts over the time of a launch, for counters of a trace: sums of a bounded
 * number of windows, which get twice as long when the launch outgrows them.
 * Private to sim/machine. */
#ifndef VPU_SIM_MACHINE_EMIT_SERIES_H
#define VPU_SIM_MACHINE_EMIT_SERIES_H

#include "base/trace/writer.h"

typedef struct {
    uint64_t *sums; /* of each window one for each series; NULL: nothing is
                       kept */
    bool *used;     /* of each: something was added */
    uint32_t n, n_windows;
    uint32_t log; /* cycles per window, as a power of two */
} emit_series;

/* n series of n_windows, a power of two, which are 1 << log cycles long at
 * first. Without memory it keeps nothing. */
void emit_series_init(emit_series *s, uint32_t n, uint32_t n_windows,
                      uint32_t log);
void emit_series_free(emit_series *s);

/* Adds to series `at` `rate` for each cycle from begin to end. */
void emit_series_rate(emit_series *s, uint32_t at, uint64_t begin, uint64_t end,
                      uint64_t rate);
/* The same of all series at once, each with its own rate. */
void emit_series_rates(emit_series *s, uint64_t begin, uint64_t end,
                       const uint64_t *rates);
/* Adds amount, spread evenly from begin to end; at once where that is one time.
 * What the windows get adds up to it exactly. */
void emit_series_spread(emit_series *s, uint32_t at, uint64_t begin,
                        uint64_t end, uint64_t amount);
/* Adds series `from` to series `to`. */
void emit_series_join(emit_series *s, uint32_t to, uint32_t from);
/* Of all windows. */
uint64_t emit_series_sum(const emit_series *s, uint32_t at);

/* The means per cycle, divided by `one`, of a launch that begins at start and
 * takes `cycles`; 0 behind it. Windows like the one before are left out. */
void emit_series_write(const emit_series *s, uint32_t at, trc_writer *w,
                       trc_track track, uint64_t start, uint64_t cycles,
                       double one);

#endif
