/* What the writer asks of an output format. Private to base/trace.
 *
 * The writer has checked order and nesting and converted times; a sink only
 * spells events out. Sinks write to f, never fail loudly (the stream keeps its
 * error until the file is committed), and keep no memory per event. */
#ifndef VPU_BASE_TRACE_SINK_H
#define VPU_BASE_TRACE_SINK_H

#include <stdio.h>

#include "base/trace/writer.h"

typedef enum { SINK_GROUP, SINK_SLICES, SINK_COUNTER } sink_track_kind;

typedef struct {
    trc_track id, parent;
    sink_track_kind kind;
    uint32_t process; /* number of the outermost group, from 1 */
    trc_unit unit;
    const char *name;
} sink_track;

typedef enum { SINK_BEGIN, SINK_END, SINK_INSTANT, SINK_COUNT } sink_event_kind;

typedef struct {
    sink_event_kind kind;
    const sink_track *track;
    uint64_t ns;
    const char *name;            /* NULL for END and COUNT */
    const char *base;            /* the name without its number, likewise */
    bool idle;                   /* BEGIN: nothing is done in this slice */
    uint32_t name_iid, name_new; /* from 1, 0 = spell it out; new: first use */
    const trc_arg *args;
    const uint32_t *arg_iids; /* one per argument, 0 = spell it out */
    uint32_t arg_new;         /* bit per argument: first use */
    size_t n_args;
    trc_flow flow;
    uint64_t flow_id;
    bool real;
    int64_t value;
    double real_value;
} sink_event;

typedef struct {
    FILE *file;
    void *state; /* the sink's own; NULL at first */
} sink;

/* False: no memory or no temporary file. drop frees the state, also after a
 * failed open, and may be NULL. */
typedef struct {
    bool (*open)(sink *s);
    void (*track)(sink *s, const sink_track *t);
    void (*event)(sink *s, const sink_event *e);
    bool (*close)(sink *s);
    void (*drop)(sink *s);
} sink_ops;

extern const sink_ops sink_perfetto, sink_chrome, sink_vcd;

#endif
