/* Writing traces: tracks with slices, instants, counters and flows, to any
 * number of files at once, in Perfetto's protobuf or Chrome's JSON form or as a
 * value change dump.
 *
 * Time. Device tracks count cycles of a clock of clk_mhz, host tracks count
 * nanoseconds since the trace's start. Files hold nanoseconds: cycle c is at
 * floor(c * 1000 / clk_mhz). As long as the clock is at most 1000 MHz different
 * cycles are different nanoseconds in the same order, and trc_ns_to_cycles
 * gives the exact cycle back; so nothing is lost and viewers show real time.
 *
 * Order. On each track calls must not go back in time, and slices nest: every
 * begin has its end, children inside. Tracks are independent of each other. So
 * two slices of a track are either nested or apart, never crossing; breaking
 * this is a bug in the caller and asserted.
 *
 * Errors while writing are remembered and told by trc_writer_commit, so that
 * the calls in between need no checks. The same calls give the same bytes.
 * Memory does not grow with the number of events; a value change dump keeps
 * them in an anonymous temporary file until commit. Not thread safe. */
#ifndef VPU_BASE_TRACE_WRITER_H
#define VPU_BASE_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct trc_writer trc_writer;

typedef enum {
    TRC_SUMMARY, /* merged slices, a bounded number per track */
    TRC_GROUPS,  /* a slice per work-group phase and per transfer */
    TRC_FULL     /* and inside it what each cycle went to */
} trc_level;

typedef enum { TRC_PERFETTO, TRC_CHROME_JSON, TRC_VCD } trc_format;

typedef struct {
    trc_level level;
    uint32_t clk_mhz;    /* 1 .. 1000, of the device tracks; 0 = 700 */
    uint64_t max_groups; /* more in one launch: its level falls to summary;
                            0 = 100 000 */
    /* For copies: no remarks about the trace of its own, and every track asked
     * for is a new one. */
    bool bare;
} trc_config;

/* A writer without outputs; cfg NULL = all-zero. Owned by the caller, who ends
 * it with commit or abandon.
 *
 * VPU_ERR_INVALID  clk_mhz above 1000
 * VPU_ERR_NOMEM */
vpu_status trc_writer_create(const trc_config *cfg, trc_writer **out,
                             vpu_error *err);
/* Add a file, before the first track. At most 4. The file appears under its
 * name when the writer is committed.
 *
 * VPU_ERR_IO       cannot be written; no temporary file for a dump
 * VPU_ERR_INVALID  too many, or tracks exist already */
vpu_status trc_writer_add(trc_writer *w, trc_format format, const char *path,
                          vpu_error *err);
/* Both end the writer and free it; NULL is fine. Slices still open are closed
 * at the last time of their track. After an error of commit no file of this
 * writer that was not yet renamed is left.
 *
 * VPU_ERR_IO  some write failed (message: path and reason) */
vpu_status trc_writer_commit(trc_writer *w, vpu_error *err);
void trc_writer_abandon(trc_writer *w);

trc_level trc_writer_level(const trc_writer *w);
uint64_t trc_writer_max_groups(const trc_writer *w);

/* --- tracks ---
 * Asking again for the same parent, kind and name gives the same track. */

typedef uint32_t trc_track; /* 0 = none: the outermost level */

typedef enum { TRC_CYCLES, TRC_NS } trc_clock;
typedef enum { TRC_UNIT_NONE, TRC_UNIT_COUNT, TRC_UNIT_BYTES } trc_unit;

/* A group holds other tracks and no events. An outermost group is shown as a
 * process: "device", "host". */
trc_track trc_track_group(trc_writer *w, trc_track parent, const char *name);
/* parent must be a group. */
trc_track trc_track_slices(trc_writer *w, trc_track parent, const char *name,
                           trc_clock clock);
trc_track trc_track_counter(trc_writer *w, trc_track parent, const char *name,
                            trc_clock clock, trc_unit unit);
/* How many tracks lie directly in a group, and is one of that name among them?
 */
uint32_t trc_track_children(const trc_writer *w, trc_track group);
bool trc_track_exists(const trc_writer *w, trc_track group, const char *name);

/* --- events -------------------------------------------------------------- */

typedef enum { TRC_ARG_UINT, TRC_ARG_REAL, TRC_ARG_TEXT } trc_arg_kind;

typedef struct {
    const char *name;
    trc_arg_kind kind;
    uint32_t key; /* a reader's, of the name; writers do not look at it */
    union {
        uint64_t number;
        double real;
        const char *text;
    }; /* which: kind */
} trc_arg;

enum { TRC_MAX_ARGS = 24 }; /* per event; more is a bug, asserted */

#define TRC_UINT(key, value)                                   \
    (trc_arg)                                                  \
    {                                                          \
        .name = (key), .kind = TRC_ARG_UINT, .number = (value) \
    }
#define TRC_REAL(key, value)                                 \
    (trc_arg)                                                \
    {                                                        \
        .name = (key), .kind = TRC_ARG_REAL, .real = (value) \
    }
#define TRC_TEXT(key, value)                                 \
    (trc_arg)                                                \
    {                                                        \
        .name = (key), .kind = TRC_ARG_TEXT, .text = (value) \
    }

typedef enum {
    TRC_FLOW_NONE,
    TRC_FLOW_START,
    TRC_FLOW_STEP,
    TRC_FLOW_END
} trc_flow;

typedef struct {
    const char *name; /* copied, "" = nameless */
    bool idle;        /* in this slice nothing is done: not busy in dumps */
    bool numbered;    /* shown as "name number"; such names are not pooled */
    uint64_t number;
    const trc_arg *args; /* n_args of them, borrowed for the call */
    size_t n_args;
    trc_flow flow;    /* arrows between slices with the same flow_id; start
                         comes first in time, end last */
    uint64_t flow_id; /* unique in the trace for each arrow chain */
} trc_event;

void trc_begin(trc_writer *w, trc_track track, uint64_t time,
               const trc_event *e);
/* args may be NULL: they join those of the begin. */
void trc_end(trc_writer *w, trc_track track, uint64_t time, const trc_arg *args,
             size_t n_args);
/* begin and end. */
void trc_slice(trc_writer *w, trc_track track, uint64_t begin, uint64_t end,
               const trc_event *e);
void trc_instant(trc_writer *w, trc_track track, uint64_t time,
                 const trc_event *e);
void trc_count(trc_writer *w, trc_track track, uint64_t time, int64_t value);
void trc_count_real(trc_writer *w, trc_track track, uint64_t time,
                    double value);
/* A remark about the whole trace: shown as an instant at 0 on the track
 * "about", key = text. */
void trc_note(trc_writer *w, const char *key, const char *fmt, ...)
    VPU_PRINTF(3, 4);

/* --- clock --------------------------------------------------------------- */
uint64_t trc_cycles_to_ns(uint32_t clk_mhz, uint64_t cycles);
/* Exact inverse for values trc_cycles_to_ns gave. */
uint64_t trc_ns_to_cycles(uint32_t clk_mhz, uint64_t ns);

#endif
