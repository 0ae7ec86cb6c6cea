/* One session of a stick: packets in the order they arrive. */
#include "runtime/stick/serve_priv.h"

#include <string.h>

#include "base/clock.h"
#include "base/word.h"

enum {
    SLICE_MS = 100,
    TIMEOUT_MS = 20000,
    PING_MS = 0x7fffffff,
    /* A host that sent RESET may have gone without reading the answer: the
     * reboot does not wait for it longer than this. */
    STOP_MS = 1000
};

const stick_fault *stick_session_fault(const stick_session *s,
                                       stick_fault_kind k)
{
    return stick_fault_find(s->config->faults, s->config->n_faults, k);
}

vpu_status stick_session_release(stick_session *s, uint32_t stream,
                                 vpu_error *err)
{
    const stick_fault *f = stick_session_fault(s, STICK_FAULT_no_release);

    if (f && ++s->n_released >= f->number)
        return VPU_OK;
    return xlink_release(s->xlink, stream, s->timeout_ms, err);
}

vpu_status stick_session_send(stick_session *s, uint32_t stream,
                              const void *data, uint32_t n, vpu_error *err)
{
    return xlink_write(s->xlink, stream, data, n, s->timeout_ms, err);
}

uint64_t stick_session_memory(const stick_session *s)
{
    uint64_t n = 0;

    for (int i = 0; i < MAX_GRAPHS; i++)
        if (s->graphs[i].used && s->graphs[i].loaded.program)
            n += stick_program_about(s->graphs[i].loaded.program).memory_bytes;
    return n;
}

/* --- the stick's own commands -------------------------------------------- */

static vpu_status tell_capabilities(stick_session *s, uint32_t stream,
                                    vpu_error *err)
{
    const stick_fault *f =
        stick_session_fault(s, STICK_FAULT_capabilities_size);
    mvnc_capabilities caps = {MAX_GRAPHS,
                              MAX_FIFOS,
                              MAX_MEMORY,
                              MAX_EXECUTORS,
                              {0x444c4454, 0x2480, 0, 0},
                              {0}};
    uint8_t bytes[256] = {0};

    mvnc_encode_capabilities(&caps, bytes);
    return stick_session_send(s, stream, bytes,
                              !f                         ? MVNC_CAPABILITIES
                              : f->number > sizeof bytes ? sizeof bytes
                                                         : f->number,
                              err);
}

/* No throttling, a temperature; the rest is not known [U]. */
static vpu_status tell_thermal(stick_session *s, uint32_t stream,
                               vpu_error *err)
{
    float values[MVNC_N_THERMAL] = {0, 45.0f};

    return stick_session_send(s, stream, values, sizeof values, err);
}

static vpu_status device_command(stick_session *s, uint32_t stream,
                                 xlink_packet p, vpu_error *err)
{
    uint32_t type = p.bytes >= 4 ? word_get(p.data) : UINT32_MAX, used;
    uint8_t bytes[4];
    vpu_status st = stick_session_release(s, stream, err);

    if (st)
        return st;
    switch (type) {
    case MVNC_GET_CAPABILITIES:
        return tell_capabilities(s, stream, err);
    case MVNC_GET_THERMAL_STATS:
        return tell_thermal(s, stream, err);
    case MVNC_GET_USED_MEMORY:
        used = (uint32_t)stick_session_memory(s);
        word_set(bytes, used);
        return stick_session_send(s, stream, bytes, sizeof bytes, err);
    case MVNC_WATCHDOG_PING:
        s->pinged = clock_seconds();
        return VPU_OK;
    default: /* settings have no answer but the ack */
        return VPU_OK;
    }
}

/* --- the session --------------------------------------------------------- */

static vpu_status dispatch(stick_session *s, uint32_t stream, xlink_packet p,
                           vpu_error *err)
{
    char name[XLINK_NAME_BYTES];

    if (!xlink_stream_name(s->xlink, stream, name))
        return VPU_OK; /* closed meanwhile, the packet with it */
    if (!strcmp(name, "deviceMonitor"))
        return device_command(s, stream, p, err);
    if (!strcmp(name, "graphMonitor"))
        return stick_session_command(s, stream, p, err);
    if (!strncmp(name, "graphBuffer", 11))
        return stick_session_blob(s, name, stream, p, err);
    if (!strncmp(name, "FIFO", 4))
        return stick_session_element(s, name, stream, p, err);
    return stick_session_release(s, stream, err);
}

static bool stopped(const stick_session *s)
{
    return s->config->stop && atomic_load(s->config->stop);
}

/* A host that pinged and does not any more is gone, or hangs. Looked at when
 * nothing else is there to read: pings wait behind other packets. */
static bool is_forgotten(const stick_session *s)
{
    return s->config->watchdog_s > 0 && s->pinged > 0 &&
           clock_seconds() - s->pinged > s->config->watchdog_s;
}

/* A stream may be closed between any two calls: that is the host's right. */
static vpu_status serve(stick_session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    while ((!st || st == VPU_ERR_LIMIT || st == VPU_ERR_INVALID) &&
           !stopped(s)) {
        xlink_packet p;
        uint32_t stream;

        st = xlink_read_any(s->xlink, &stream, &p, SLICE_MS, err);
        if (st == VPU_ERR_LIMIT && is_forgotten(s)) {
            log_note(s->config->log, "no ping for %g s: the stick reboots",
                     s->config->watchdog_s);
            s->forgotten = true;
            return VPU_OK;
        }
        if (st)
            continue;
        st = dispatch(s, stream, p, err);
        if (st == VPU_ERR_LIMIT || st == VPU_ERR_MISMATCH)
            return st; /* the host does not answer, or refuses */
    }
    return st == VPU_ERR_LIMIT ? VPU_OK : st;
}

/* The link stays, and nobody answers. */
static void play_dead(const stick_session *s, transport *t)
{
    vpu_status st;
    size_t got;
    char byte;

    do
        st = transport_read(t, &byte, 1, &got, SLICE_MS, NULL);
    while ((!st || st == VPU_ERR_LIMIT) && !stopped(s));
}

static vpu_status run_session(stick_session *s, transport *t, stick_end *how,
                              vpu_error *err)
{
    const stick_fault *size = stick_session_fault(s, STICK_FAULT_result_size);
    const stick_fault *none = stick_session_fault(s, STICK_FAULT_no_result);
    stick_jobs_config jobs = {.log = s->config->log,
                              .stop = s->config->stop,
                              .result_bytes = size ? size->number : UINT32_MAX,
                              .no_result = none ? none->number : 0};
    xlink_config link = {.layout = s->config->layout,
                         .device = true,
                         .timeout_ms = s->timeout_ms,
                         .stop_ms = STOP_MS,
                         .max_packet = MAX_MEMORY,
                         .ping_ms =
                             s->config->ping_ms ? s->config->ping_ms : PING_MS,
                         .stop = s->config->stop,
                         .watch = s->config->watch};
    vpu_error over;
    vpu_status st = xlink_start(t, &link, &s->xlink, err);

    if (st) {
        *how = stopped(s) ? STICK_STOPPED : STICK_GONE;
        return *how == STICK_STOPPED ? VPU_OK : st;
    }
    jobs.xlink = s->xlink;
    st = stick_jobs_start(&jobs, &s->jobs, err);
    if (!st)
        st = serve(s, err);
    *how = xlink_was_reset(s->xlink) || s->forgotten ? STICK_RESET
           : stopped(s)                              ? STICK_STOPPED
                                                     : STICK_GONE;
    if (*how == STICK_RESET && stick_session_fault(s, STICK_FAULT_no_reset))
        play_dead(s, t);
    err_set(&over, VPU_ERR_IO, "the session is over");
    xlink_fail(s->xlink, &over); /* a job that waits for the host goes on */
    stick_jobs_stop(s->jobs);
    stick_session_forget(s);
    xlink_stop(s->xlink);
    return *how == STICK_GONE ? st : VPU_OK;
}

vpu_status stick_serve(transport *t, const stick_config *c, stick_end *how,
                       vpu_error *err)
{
    stick_session s = {
        .config = c, .timeout_ms = c->timeout_ms ? c->timeout_ms : TIMEOUT_MS};
    transport *paced = NULL, *faulty = NULL, *end = t;
    vpu_status st = VPU_OK;

    *how = STICK_GONE;
    if (c->link) {
        st = stick_link_wrap(end, c->link, &paced, err);
        end = paced;
    }
    if (!st && c->n_faults) {
        st = stick_fault_wrap(end, c->layout, c->faults, c->n_faults, &faulty,
                              err);
        end = faulty;
    }
    if (!st)
        st = run_session(&s, end, how, err);
    transport_close(faulty);
    transport_close(paced);
    return st;
}
