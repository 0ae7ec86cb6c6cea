/* A stick that runs its firmware, as host software talks to it: commands of
 * mvnc over XLink. Opening, graphs with their two FIFOs, inferences, timings,
 * tear-down; a thread that pings, one that reads the stick's text.
 *
 * No call waits without end: each of its waits is at most timeout_ms long. What
 * a wait was for is in its message. Functions may be called from any thread,
 * but mvnc_close when no other call is in progress; results of a graph are
 * taken by one thread at a time. Errors, besides what functions say:
 *
 * VPU_ERR_LIMIT     the stick did not answer in time
 * VPU_ERR_IO        the link failed, or *stop was set
 * VPU_ERR_MISMATCH  the stick refused, or answered what nobody expects
 * VPU_ERR_NOMEM     out of memory, here or on the stick */
#ifndef VPU_RUNTIME_LINK_MVNC_H
#define VPU_RUNTIME_LINK_MVNC_H

#include "base/log.h"
#include "runtime/link/mvnc_wire.h"
#include "runtime/link/xlink.h"

typedef struct mvnc mvnc;
typedef struct mvnc_graph mvnc_graph;

typedef struct {
    xlink_layout layout;
    unsigned timeout_ms;
    unsigned ping_ms; /* between pings; 0 = no pings */
    unsigned dead_ms; /* without an ack of one: the link fails */
    /* The stick's text, from a thread of its own; NULL = not asked for. */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    const atomic_bool *stop;  /* set: waits end soon; NULL = never */
    const xlink_watch *watch; /* of every packet; NULL = nobody */
} mvnc_config;

/* PING, streams, capabilities. t stays the caller's, for mvnc_close ends its
 * use. */
vpu_status mvnc_open(transport *t, const mvnc_config *config, mvnc **out,
                     vpu_error *err);
/* Close streams, send RESET, end the link, free all, graphs too. Waits a few
 * seconds at most. The error is the first; all is freed even so. NULL is fine.
 */
vpu_status mvnc_close(mvnc *m, vpu_error *err);

const mvnc_capabilities *mvnc_caps(const mvnc *m);
/* MVNC_N_THERMAL floats: throttling level, degrees Celsius, 24 more. */
vpu_status mvnc_thermal(mvnc *m, float out[MVNC_N_THERMAL], vpu_error *err);
vpu_status mvnc_used_memory(mvnc *m, uint32_t *bytes, vpu_error *err);
/* A command without reply: SET_POWER_CONFIG, RESET_POWER_CONFIG,
 * ENABLE_ASYNC_DMA. */
vpu_status mvnc_set(mvnc *m, mvnc_device_type command, uint32_t value,
                    vpu_error *err);

typedef struct {
    mvnc_tensor input, output;
    uint32_t n_stages;
} mvnc_graph_info;

typedef struct {
    uint32_t executors;  /* of the stick, for this graph */
    uint32_t elements;   /* inferences that may be on their way, at least one */
    unsigned loading_ms; /* the stick may take so long to load the blob */
} mvnc_graph_config;

/* Send a blob, which must outlive the call, and open its FIFOs.
 *
 * VPU_ERR_INVALID   n below the header's size, executors above the stick's
 * VPU_ERR_MISMATCH  also: a status other than success, with its text */
vpu_status mvnc_graph_create(mvnc *m, const void *blob, size_t n,
                             const mvnc_graph_config *config, mvnc_graph **out,
                             vpu_error *err);
/* Tell the stick to forget it. NULL is fine. */
vpu_status mvnc_graph_destroy(mvnc_graph *g, vpu_error *err);
mvnc_graph_info mvnc_graph_about(const mvnc_graph *g);

/* Queue an inference: input.bytes bytes. */
vpu_status mvnc_infer(mvnc_graph *g, const void *input, vpu_error *err);
/* The oldest result not taken yet: output.bytes bytes; waits run_ms. */
vpu_status mvnc_result(mvnc_graph *g, void *output, unsigned run_ms,
                       vpu_error *err);
/* Of the last inference, in milliseconds: a number per stage, then receiving
 * the input, then all of it; n_stages + 2. */
vpu_status mvnc_timings(mvnc_graph *g, float *out, vpu_error *err);
/* At most MVNC_DEBUG characters and a NUL. */
vpu_status mvnc_debug(mvnc_graph *g, char out[MVNC_DEBUG + 1], vpu_error *err);

#endif
