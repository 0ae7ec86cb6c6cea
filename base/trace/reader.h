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
    trc_read_kind kind;
    uint64_t uuid, ns; /* track; time */
    const char *name;  /* never NULL */
    const trc_arg *args;
    size_t n_args; /* at most TRC_MAX_ARGS; more are dropped */
    /* Not 0: in this reading the number stands for this text, of an event's
     * name or an argument's, so that it need not be looked at again. */
    uint32_t name_key;
    const uint32_t *arg_keys; /* one per argument */
    trc_flow flow;            /* STEP stands for START too: files do not tell */
    uint64_t flow_id;
    double value; /* COUNT */
    bool real;    /* it was written as a floating-point number */
} trc_read_event;

/* Pointers are good for the call only. track and event may be NULL. Returning
 * false stops the reading with VPU_OK. */
typedef struct {
    bool (*track)(void *user, const trc_read_track *t);
    bool (*event)(void *user, const trc_read_event *e);
    void *user;
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
