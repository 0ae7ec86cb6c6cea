/* What the session (serve.c) and its graphs and FIFOs (serve_graph.c) share.
 * One thread. */
#ifndef VPU_RUNTIME_STICK_SERVE_PRIV_H
#define VPU_RUNTIME_STICK_SERVE_PRIV_H

#include "runtime/link/mvnc_wire.h"
#include "runtime/stick/jobs.h"
#include "runtime/stick/stick.h"

/* As a stick says of itself [L]; executors [U]. */
enum {
    MAX_GRAPHS = 10,
    MAX_FIFOS = 20,
    MAX_MEMORY = 507510776,
    MAX_EXECUTORS = 4
};

typedef struct {
    bool used;
    uint32_t id;
    char stream[MVNC_NAME];
    enum { WANTS_NOTHING, WANTS_HEADER, WANTS_BLOB } wants;
    uint32_t executors;  /* that the host asked for */
    stick_loaded loaded; /* program NULL: none */
} stick_graph_slot;

typedef struct {
    bool used, host_writes;
    uint32_t id, bytes; /* of an element */
    char stream[MVNC_NAME];
    uint32_t stream_id;
    /* Elements that wait for their TRIGGER, oldest first; not released. */
    unsigned first, n_waiting;
    xlink_packet waiting[XLINK_MAX_PACKETS];
} stick_fifo_slot;

typedef struct {
    const stick_config *config;
    xlink *xlink;
    stick_jobs *jobs;
    unsigned timeout_ms;
    double pinged;       /* when the host did last; 0 = never */
    bool forgotten;      /* it stopped to */
    uint32_t n_released; /* or not, if a fault says so */
    stick_graph_slot graphs[MAX_GRAPHS];
    stick_fifo_slot fifos[MAX_FIFOS];
} stick_session;

const stick_fault *stick_session_fault(const stick_session *s,
                                       stick_fault_kind k);
vpu_status stick_session_release(stick_session *s, uint32_t stream,
                                 vpu_error *err);
vpu_status stick_session_send(stick_session *s, uint32_t stream,
                              const void *data, uint32_t n, vpu_error *err);
/* What the stick holds. */
uint64_t stick_session_memory(const stick_session *s);

/* A packet of graphMonitor, a graph's stream, a FIFO. They release it, or keep
 * it; errors end the session. */
vpu_status stick_session_command(stick_session *s, uint32_t stream,
                                 xlink_packet p, vpu_error *err);
vpu_status stick_session_blob(stick_session *s, const char *name,
                              uint32_t stream, xlink_packet p, vpu_error *err);
vpu_status stick_session_element(stick_session *s, const char *name,
                                 uint32_t stream, xlink_packet p,
                                 vpu_error *err);
void stick_session_forget(stick_session *s); /* all graphs; no job may run */

#endif
