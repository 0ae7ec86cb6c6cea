/* Reading Perfetto traces: those writer.h makes, and as far as track events go
 * those of others.
 *
 * A reader calls back for every track and event in the order of the file. It
 * keeps the clocks and pooled names of each sequence of packets and nothing of
 * the events, so memory does not grow with their number. Bytes may be anything:
 * a file that is no trace gives an error, and parts of the format that the
 * reader does not know are skipped. */
#ifndef VPU_BASE_TRACE_READER_H
#define VPU_BASE_TRACE_READER_H

#include "base/trace/writer.h"

typedef struct {
    uint64_t uuid, parent_uuid; /* parent 0 = outermost */
    const char *name;           /* never NULL */
    bool counter;
    trc_unit unit; /* of a counter */
} trc_read_track;

typedef enum {
    TRC_READ_BEGIN,
    TRC_READ_END,
    TRC_READ_INSTANT,
    TRC_READ_COUNT
} trc_read_kind;

typedef struct {
    uint64_t uuid, ns; /* track; time */
    const char *name;  /* never NULL */
    const trc_arg *args;
    uint64_t flow_id;
    double value; /* COUNT */
    trc_read_kind kind;
    trc_flow flow; /* STEP stands for START too: files do not tell */
    /* Not 0: in this reading the number stands for this text, of an event's
     * name (or an argument's, then it is `key` there), so that it need not be
     * looked at again. */
    uint32_t name_key;
    uint8_t n_args; /* at most TRC_MAX_ARGS; more are dropped */
    bool real;      /* value was written as a floating-point number */
} trc_read_event;

/* Where the next event will be. `event` of the operations may keep an event
 * where it is: by moving all three on, behind what the event takes (n_args
 * arguments, n_text bytes of texts). */
typedef struct {
    trc_read_event *event;
    trc_arg *args; /* room for TRC_MAX_ARGS */
    char *text;    /* room for TRC_READ_TEXT bytes */
    size_t n_text; /* used by the event */
} trc_read_room;

enum { TRC_READ_TEXT = 512 << 10 };

/* Pointers are good for the call only. track and event may be NULL. Returning
 * false stops the reading with VPU_OK. */
typedef struct {
    bool (*track)(void *user, const trc_read_track *t);
    bool (*event)(void *user, const trc_read_event *e);
    void *user;
    /* NULL: the reader's own. */
    trc_read_room *room;
    /* The last call, also before an error, once the file is open. May be NULL.
     * Texts with a key are good until it returns. */
    void (*end)(void *user);
} trc_read_ops;

/* VPU_ERR_IO     cannot be opened or read
 * VPU_ERR_PARSE  not a trace (message: path and byte position)
 * VPU_ERR_LIMIT  a packet above 256 KiB, a sequence's pooled name above number
 *                65535 or 4096 bytes, more than 1024 packet sequences
 *
 * An error comes after the calls for all packets in front of it, so a caller
 * may keep what it has got */
vpu_status trc_read_file(const char *path, const trc_read_ops *ops,
                         vpu_error *err);
/* The same from memory; name stands for the path in messages. */
vpu_status trc_read_bytes(const char *name, const void *data, size_t n_bytes,
                          const trc_read_ops *ops, vpu_error *err);

#endif
