/* What happened in a stretch of time, in numbers. */
#ifndef VPU_VISUALIZER_STATS_H
#define VPU_VISUALIZER_STATS_H

#include "visualizer/timeline.h"

enum { STATS_MAX_SHAVES = 32 };

typedef struct {
    uint64_t from, to;
    uint32_t n_shaves, n_channels;
    /* Ticks of all SHAVEs by cause, and what no slice covers. */
    uint64_t cause[TL_N_CAUSES], uncovered;
    uint64_t shave_cause[STATS_MAX_SHAVES][TL_N_CAUSES]; /* by row order */
    uint32_t shave_row[STATS_MAX_SHAVES];
    uint64_t dma_busy; /* of all channels */
    double imbalance;  /* busiest SHAVE over the mean, minus 1; busy is any
                          cause but idle */
    bool has_ddr;
    double ddr_mean, ddr_peak; /* bytes per tick */
    /* Ticks with a transfer on any channel, and of those the ones in which
     * some SHAVE issued. Left out (false) when the stretch has more than
     * STATS_MAX_SWEEP slices. */
    bool has_overlap;
    uint64_t transferring, overlapped;
} stats;

enum { STATS_MAX_SWEEP = 20000 };

/* Sums are exact. A trace of the level groups or summary gives a phase's
 * causes no order: parts of a phase are then estimates. */
void stats_of(const tl_timeline *tl, uint64_t from, uint64_t to, stats *s);
/* Of those rows of the timeline alone for which `rows` has true; NULL: all. */
void stats_of_rows(const tl_timeline *tl, const bool *rows, uint64_t from,
                   uint64_t to, stats *s);

/* What a SHAVE waits for in that cause: "DDR latency"; "" for work. */
const char *stats_resource(tl_class cause);

#endif
