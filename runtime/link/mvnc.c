/* Opening and closing a stick, and its own commands. */
#include "runtime/link/mvnc_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/word.h"

enum {
    SLICE_MS = 100,        /* how soon a wait sees *stop */
    CLOSE_MS = 2000,       /* of each step of closing */
    MAX_PACKET = 1u << 30, /* from the stick */
};

/* --- packets ------------------------------------------------------------- */

vpu_status mvnc_take(mvnc *m, const mvnc_expected *e, xlink_packet *out,
                     vpu_error *err)
{
    unsigned left = e->timeout_ms;
    vpu_status st;

    do {
        unsigned slice = left < SLICE_MS ? left : SLICE_MS;

        if (m->config.stop && atomic_load(m->config.stop))
            return err_set(err, VPU_ERR_IO, "interrupted, waiting for %s",
                           e->what);
        st = xlink_read(m->xlink, e->stream, out, slice, err);
        left -= slice;
    } while (st == VPU_ERR_LIMIT && left);
    if (st == VPU_ERR_LIMIT)
        return err_set(err, st, "the stick did not send %s within %u ms",
                       e->what, e->timeout_ms);
    if (st)
        return err_in(err, st, "waiting for %s", e->what);
    if (!e->n || out->bytes == e->n)
        return VPU_OK;
    st = err_set(err, VPU_ERR_MISMATCH,
                 "the stick sent %u bytes, expected %s: %u bytes", out->bytes,
                 e->what, e->n);
    xlink_release(m->xlink, e->stream, m->config.timeout_ms, NULL);
    return st;
}

vpu_status mvnc_get(mvnc *m, const mvnc_expected *e, void *out, vpu_error *err)
{
    xlink_packet p;
    vpu_status st = mvnc_take(m, e, &p, err);

    if (st)
        return st;
    memcpy(out, p.data, e->n);
    st = xlink_release(m->xlink, e->stream, m->config.timeout_ms, err);
    return st ? err_in(err, st, "releasing %s", e->what) : st;
}

vpu_status mvnc_send(mvnc *m, uint32_t stream, const void *data, uint32_t n,
                     const char *what, vpu_error *err)
{
    vpu_status st =
        xlink_write(m->xlink, stream, data, n, m->config.timeout_ms, err);

    return st ? err_in(err, st, "sending %s", what) : st;
}

/* --- commands of the stick itself ---------------------------------------- */

static vpu_status device_command(mvnc *m, uint32_t type, uint32_t arg,
                                 void *reply, vpu_error *err)
{
    uint8_t bytes[MVNC_DEVICE_BYTES];
    uint32_t n = mvnc_reply_bytes(type);
    const char *name = mvnc_device_name(type);
    vpu_status st;

    word_set(bytes, type);
    word_set(bytes + 4, arg);
    pthread_mutex_lock(&m->device_lock);
    st = mvnc_send(m, m->device, bytes, sizeof bytes, name, err);
    if (!st && n) {
        st = mvnc_get(m,
                      &(const mvnc_expected){.stream = m->device,
                                             .n = n,
                                             .timeout_ms = m->config.timeout_ms,
                                             .what = "the reply packet"},
                      reply, err);
        if (st)
            err_in(err, st, "%s", name);
    }
    pthread_mutex_unlock(&m->device_lock);
    return st;
}

vpu_status mvnc_thermal(mvnc *m, float out[MVNC_N_THERMAL], vpu_error *err)
{
    return device_command(m, MVNC_GET_THERMAL_STATS, 0, out, err);
}

vpu_status mvnc_used_memory(mvnc *m, uint32_t *bytes, vpu_error *err)
{
    uint8_t reply[4];
    vpu_status st = device_command(m, MVNC_GET_USED_MEMORY, 0, reply, err);

    if (!st)
        *bytes = word_get(reply);
    return st;
}

vpu_status mvnc_set(mvnc *m, mvnc_device_type command, uint32_t value,
                    vpu_error *err)
{
    if (command < MVNC_SET_POWER_CONFIG || command > MVNC_ENABLE_ASYNC_DMA)
        return err_set(err, VPU_ERR_INVALID, "%u is no setting", command);
    return device_command(m, command, value, NULL, err);
}

const mvnc_capabilities *mvnc_caps(const mvnc *m)
{
    return &m->caps;
}

/* --- opening ------------------------------------------------------------- */

static vpu_status open_stream(mvnc *m, const char *name, uint32_t size,
                              uint32_t *stream, bool *is_open, vpu_error *err)
{
    vpu_status st =
        xlink_open(m->xlink, name, size, stream, m->config.timeout_ms, err);

    *is_open = !st;
    return st ? err_in(err, st, "opening stream '%s'", name) : st;
}

static vpu_status open_console(mvnc *m, vpu_error *err)
{
    vpu_status st = device_command(m, MVNC_SET_STDIO_REDIRECT, 1, NULL, err);

    if (!st)
        st = open_stream(m, "console", MVNC_CONSOLE_STREAM, &m->console,
                         &m->console_open, err);
    return st ? st : mvnc_start_reading(m, err);
}

/* In the order of docs/usb.md, "A session, packet by packet". */
static vpu_status open_session(mvnc *m, vpu_error *err)
{
    uint8_t caps[MVNC_CAPABILITIES];
    vpu_status st = open_stream(m, "deviceMonitor", MVNC_DEVICE_STREAM,
                                &m->device, &m->device_open, err);

    if (!st && m->config.ping_ms)
        st = mvnc_start_threads(m, err);
    if (!st)
        st = device_command(m, MVNC_GET_CAPABILITIES, 0, caps, err);
    if (!st)
        m->caps = mvnc_decode_capabilities(caps);
    if (!st && m->config.print)
        st = open_console(m, err);
    if (!st)
        st = open_stream(m, "graphMonitor", MVNC_GRAPH_STREAM, &m->monitor,
                         &m->monitor_open, err);
    return st;
}

vpu_status mvnc_open(transport *t, const mvnc_config *config, mvnc **out,
                     vpu_error *err)
{
    /* Half an event is noticed before an answer that waits for it is missed, so
     * that the message is about the event. */
    xlink_config link = {.layout = config->layout,
                         .timeout_ms =
                             config->timeout_ms - config->timeout_ms / 4,
                         .max_packet = MAX_PACKET,
                         .watch = config->watch};
    mvnc *m = calloc(1, sizeof *m);
    pthread_condattr_t attr;
    vpu_status st;

    if (!m)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a stick");
    m->config = *config;
    st = xlink_start(t, &link, &m->xlink, err);
    if (st) {
        free(m);
        return err_in(err, st,
                      "no answer to PING, the first packet (layout "
                      "%s)",
                      xlink_layout_name(config->layout));
    }
    pthread_mutex_init(&m->device_lock, NULL);
    pthread_mutex_init(&m->monitor_lock, NULL);
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &attr);
    pthread_condattr_destroy(&attr);
    st = open_session(m, err);
    if (st)
        mvnc_close(m, NULL);
    else
        *out = m;
    return st;
}

/* --- closing ------------------------------------------------------------- */

/* After a first failure the rest is left to the RESET: waits must not add up.
 */
static void close_stream(mvnc *m, uint32_t stream, bool is_open, vpu_status *st,
                         vpu_error *err)
{
    if (is_open && !*st)
        *st = xlink_close(m->xlink, stream, CLOSE_MS, err);
}

vpu_status mvnc_close(mvnc *m, vpu_error *err)
{
    vpu_error later;
    vpu_status st = VPU_OK, reset;

    if (!m)
        return VPU_OK;
    m->config.stop = NULL;
    m->config.timeout_ms =
        m->config.timeout_ms < CLOSE_MS ? m->config.timeout_ms : CLOSE_MS;
    if (m->console_open)
        st = device_command(m, MVNC_SET_STDIO_REDIRECT, 0, NULL, err);
    if (!mvnc_end_pings(m, CLOSE_MS) && !st)
        st = err_set(err, VPU_ERR_LIMIT,
                     "closing: a ping of the watchdog got no ack");
    while (m->graphs)
        mvnc_graph_forget(m->graphs, st ? 0 : CLOSE_MS);
    close_stream(m, m->console, m->console_open, &st, err);
    close_stream(m, m->device, m->device_open, &st, err);
    close_stream(m, m->monitor, m->monitor_open, &st, err);
    reset = xlink_reset(m->xlink, CLOSE_MS, &later);
    if (!st && reset) {
        st = reset;
        if (err)
            *err = later;
        err_in(err, st, "the stick did not answer RESET");
    }
    err_set(&later, VPU_ERR_IO, "the session is closed");
    xlink_fail(m->xlink, &later); /* threads that wait go on */
    mvnc_join_threads(m);
    xlink_stop(m->xlink);
    pthread_mutex_destroy(&m->device_lock);
    pthread_mutex_destroy(&m->monitor_lock);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->changed);
    free(m);
    return st;
}
