/* What a session with a stick (mvnc.c), its graphs (mvnc_graph.c) and its
 * threads (mvnc_threads.c) share. */
#ifndef VPU_RUNTIME_LINK_MVNC_PRIV_H
#define VPU_RUNTIME_LINK_MVNC_PRIV_H

#include <pthread.h>

#include "runtime/link/mvnc.h"

struct mvnc_graph {
    struct mvnc_graph *next;
    mvnc *mvnc;
    uint32_t id, input_id, output_id;
    uint32_t blob, input, output; /* streams */
    bool blob_open, input_open, output_open;
    bool allocated, input_there, output_there; /* on the stick */
    uint32_t executors;
    mvnc_graph_info info;
};

struct mvnc {
    mvnc_config config;
    xlink *xlink;
    uint32_t device, monitor, console; /* streams */
    bool device_open, monitor_open, console_open;
    mvnc_capabilities caps;
    pthread_mutex_t device_lock;  /* a command and its reply */
    pthread_mutex_t monitor_lock; /* likewise; graphs, ids */
    mvnc_graph *graphs;
    uint32_t next_graph, next_fifo;
    pthread_t pinger, reader;
    bool pinging, reading; /* the threads are there */
    pthread_mutex_t lock;  /* the next three */
    pthread_cond_t changed;
    bool ending, ping_out; /* ping_out: one has no ack yet */
};

/* A packet that the stick is to send. */
typedef struct {
    uint32_t stream;
    uint32_t n; /* exactly so many bytes; 0 = any number */
    unsigned timeout_ms;
    const char *what; /* "the status of VERIFY", for messages */
} mvnc_expected;

/* It is to be released. */
vpu_status mvnc_take(mvnc *m, const mvnc_expected *e, xlink_packet *out,
                     vpu_error *err);
/* The same, copied and released. */
vpu_status mvnc_get(mvnc *m, const mvnc_expected *e, void *out, vpu_error *err);
vpu_status mvnc_send(mvnc *m, uint32_t stream, const void *data, uint32_t n,
                     const char *what, vpu_error *err);

/* Destroy without commands: the stick is to be reset. */
void mvnc_graph_forget(mvnc_graph *g, unsigned timeout_ms);

vpu_status mvnc_start_threads(mvnc *m, vpu_error *err);
vpu_status mvnc_start_reading(mvnc *m, vpu_error *err);
/* No pings from now on. False: one is on its way and gets no ack. */
bool mvnc_end_pings(mvnc *m, unsigned timeout_ms);
/* When the link is over. */
void mvnc_join_threads(mvnc *m);

#endif
