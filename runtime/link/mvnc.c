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

vpu_status mvnc_take(mvnc *m, uint32_t stream, uint32_t n, unsigned timeout_ms,
                     const char *what, xlink_packet *out, vpu_error *err)
{
    unsigned left = timeout_ms;
    vpu_status rc;

    do {
        unsigned slice = left < SLICE_MS ? left : SLICE_MS;

        if (m->config.stop && atomic_load(m->config.stop))
            return err_set(err, VPU_ERR_IO, "interrupted, waiting for %s",
                           what);
        rc = xlink_read(m->xlink, stream, out, slice, err);
        left -= slice;
    } while (rc == VPU_ERR_LIMIT && left);
    if (rc == VPU_ERR_LIMIT)
        return err_set(err, rc, "the stick did not send %s within %u ms", what,
                       timeout_ms);
    if (rc)
        return err_in(err, rc, "waiting for %s", what);
    if (!n || out->bytes == n)
        return VPU_OK;
    rc = err_set(err, VPU_ERR_MISMATCH,
                 "the stick sent %u bytes, expected %s: %u bytes", out->bytes,
                 what, n);
    xlink_release(m->xlink, stream, m->config.timeout_ms, NULL);
    return rc;
}

vpu_status mvnc_get(mvnc *m, uint32_t stream, void *out, uint32_t n,
                    unsigned timeout_ms, const char *what, vpu_error *err)
{
    xlink_packet p;
    vpu_status rc = mvnc_take(m, stream, n, timeout_ms, what, &p, err);

    if (rc)
        return rc;
    memcpy(out, p.data, n);
    rc = xlink_release(m->xlink, stream, m->config.timeout_ms, err);
    return rc ? err_in(err, rc, "releasing %s", what) : rc;
}

vpu_status mvnc_send(mvnc *m, uint32_t stream, const void *data, uint32_t n,
                     const char *what, vpu_error *err)
{
    vpu_status rc =
        xlink_write(m->xlink, stream, data, n, m->config.timeout_ms, err);

    return rc ? err_in(err, rc, "sending %s", what) : rc;
}

/* --- commands of the stick itself ---------------------------------------- */

static vpu_status device_command(mvnc *m, uint32_t type, uint32_t arg,
                                 void *reply, vpu_error *err)
{
    uint8_t bytes[MVNC_DEVICE_BYTES];
    uint32_t n = mvnc_reply_bytes(type);
    const char *name = mvnc_device_name(type);
    vpu_status rc;

    word_set(bytes, type);
    word_set(bytes + 4, arg);
    pthread_mutex_lock(&m->device_lock);
    rc = mvnc_send(m, m->device, bytes, sizeof bytes, name, err);
    if (!rc && n) {
        rc = mvnc_get(m, m->device, reply, n, m->config.timeout_ms,
                      "the reply packet", err);
        if (rc)
            err_in(err, rc, "%s", name);
    }
    pthread_mutex_unlock(&m->device_lock);
    return rc;
}

vpu_status mvnc_thermal(mvnc *m, float out[MVNC_N_THERMAL], vpu_error *err)
{
    return device_command(m, MVNC_GET_THERMAL_STATS, 0, out, err);
}

vpu_status mvnc_used_memory(mvnc *m, uint32_t *bytes, vpu_error *err)
{
    uint8_t reply[4];
    vpu_status rc = device_command(m, MVNC_GET_USED_MEMORY, 0, reply, err);

    if (!rc)
        *bytes = word_get(reply);
    return rc;
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
    vpu_status rc =
        xlink_open(m->xlink, name, size, stream, m->config.timeout_ms, err);

    *is_open = !rc;
    return rc ? err_in(err, rc, "opening stream '%s'", name) : rc;
}

static vpu_status open_console(mvnc *m, vpu_error *err)
{
    vpu_status rc = device_command(m, MVNC_SET_STDIO_REDIRECT, 1, NULL, err);

    if (!rc)
        rc = open_stream(m, "console", MVNC_CONSOLE_STREAM, &m->console,
                         &m->console_open, err);
    return rc ? rc : mvnc_start_reading(m, err);
}

/* In the order of docs/usb.md, "A session, packet by packet". */
static vpu_status open_session(mvnc *m, vpu_error *err)
{
    uint8_t caps[MVNC_CAPABILITIES];
    vpu_status rc = open_stream(m, "deviceMonitor", MVNC_DEVICE_STREAM,
                                &m->device, &m->device_open, err);

    if (!rc && m->config.ping_ms)
        rc = mvnc_start_threads(m, err);
    if (!rc)
        rc = device_command(m, MVNC_GET_CAPABILITIES, 0, caps, err);
    if (!rc)
        m->caps = mvnc_decode_capabilities(caps);
    if (!rc && m->config.print)
        rc = open_console(m, err);
    if (!rc)
        rc = open_stream(m, "graphMonitor", MVNC_GRAPH_STREAM, &m->monitor,
                         &m->monitor_open, err);
    return rc;
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
    vpu_status rc;

    if (!m)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a stick");
    m->config = *config;
    rc = xlink_start(t, &link, &m->xlink, err);
    if (rc) {
        free(m);
        return err_in(err, rc,
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
    rc = open_session(m, err);
    if (rc)
        mvnc_close(m, NULL);
    else
        *out = m;
    return rc;
}

/* --- closing ------------------------------------------------------------- */

/* After a first failure the rest is left to the RESET: waits must not add up.
 */
static void close_stream(mvnc *m, uint32_t stream, bool is_open, vpu_status *rc,
                         vpu_error *err)
{
    if (is_open && !*rc)
        *rc = xlink_close(m->xlink, stream, CLOSE_MS, err);
}

vpu_status mvnc_close(mvnc *m, vpu_error *err)
{
    vpu_error later;
    vpu_status rc = VPU_OK, reset;

    if (!m)
        return VPU_OK;
    m->config.stop = NULL;
    m->config.timeout_ms =
        m->config.timeout_ms < CLOSE_MS ? m->config.timeout_ms : CLOSE_MS;
    if (m->console_open)
        rc = device_command(m, MVNC_SET_STDIO_REDIRECT, 0, NULL, err);
    if (!mvnc_end_pings(m, CLOSE_MS) && !rc)
        rc = err_set(err, VPU_ERR_LIMIT,
                     "closing: a ping of the watchdog got no ack");
    while (m->graphs)
        mvnc_graph_forget(m->graphs, rc ? 0 : CLOSE_MS);
    close_stream(m, m->console, m->console_open, &rc, err);
    close_stream(m, m->device, m->device_open, &rc, err);
    close_stream(m, m->monitor, m->monitor_open, &rc, err);
    reset = xlink_reset(m->xlink, CLOSE_MS, &later);
    if (!rc && reset) {
        rc = reset;
        if (err)
            *err = later;
        err_in(err, rc, "the stick did not answer RESET");
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
    return rc;
}
