/* From a trace to a writer: another format, or a stretch of it. */
#ifndef VPU_BASE_TRACE_COPY_H
#define VPU_BASE_TRACE_COPY_H

#include "base/trace/writer.h"

typedef enum { TRC_TIME_NS, TRC_TIME_CYCLES } trc_time_unit;

typedef struct {
    uint64_t time;
    trc_time_unit unit; /* cycles: of the clock the trace notes */
} trc_time;

typedef struct {
    bool all; /* else what is in [from, to) */
    trc_time from, to;
} trc_stretch;

typedef struct {
    uint64_t n_events;  /* that were copied */
    uint64_t n_skipped; /* that no trace of ours could hold: ends without a
                           begin, more than 64 slices in each other, times
                           before others of their track */
} trc_copied;

/* Read path, twice, and give it to w, a bare one (trc_config), which then has
 * the same tracks, events and times; slices are cut at the ends of the stretch,
 * and counters begin with the value they have there. All of a trace of ours,
 * copied to the same format, gives the same bytes but for where arrows begin,
 * which files do not tell. What arrows lead out of the stretch is kept.
 *
 * VPU_ERR_INVALID  from is not before to; cycles, but the trace notes no clock
 * VPU_ERR_NOMEM; VPU_ERR_IO, VPU_ERR_PARSE, VPU_ERR_LIMIT as trc_read_file, but
 * where events were read before they were copied; w is the caller's to end */
vpu_status trc_copy(const char *path, const trc_stretch *stretch, trc_writer *w,
                    trc_copied *done, vpu_error *err);

#endif
