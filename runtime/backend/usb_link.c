/* Sessions with sticks. */
#include "runtime/backend/usb_link.h"

#include <string.h>

#include "base/file.h"
#include "runtime/usb/firmware.h"

enum {
    CONNECT_MS = 5000,
    ANSWER_MS = 12000, /* as published hosts wait for a ping [S] */
    PING_MS = 1000,
    GONE_MS = 10000,
    BACK_MS = 5000, /* re-enumeration takes 300 to 500 ms [L] */
    MAX_FIRMWARE = 64 << 20
};

/* --- choosing ------------------------------------------------------------ */

static vpu_status firmware_says(const char *path, xlink_layout *out,
                                vpu_error *err)
{
    arena *a = arena_create(0);
    const char *release;
    char *data;
    size_t n;
    vpu_status st = file_read(path, MAX_FIRMWARE, a, &data, &n, err);

    if (!st && !firmware_layout((const uint8_t *)data, n, out, &release))
        st =
            err_set(err, VPU_ERR_INVALID,
                    "%s: not a firmware whose XLink layout is known: --xlink A "
                    "(OpenVINO up to 2021.4.0), B (2021.4.2, 2022.1) or C "
                    "(2022.2 and later) says",
                    path);
    arena_destroy(a);
    return st;
}

vpu_status backend_usb_layout(const backend_stick_options *c, xlink_layout *out,
                              vpu_error *err)
{
    if (c && c->layout)
        return xlink_layout_parse(c->layout, out)
                   ? VPU_OK
                   : err_set(err, VPU_ERR_INVALID,
                             "XLink layout '%s': expected A, B or C",
                             c->layout);
    if (c && c->firmware)
        return firmware_says(c->firmware, out, err);
    return err_set(
        err, VPU_ERR_INVALID,
        "which XLink layout does the stick speak? Its firmware "
        "decides, nothing announces it: --xlink A (OpenVINO up to "
        "2021.4.0), B (2021.4.2, 2022.1) or C (2022.2 and later), or "
        "--firmware with a known file");
}

vpu_status backend_usb_session_choose(backend_usb_session *s,
                                      const char *device,
                                      const backend_stick_options *c,
                                      const log_sink *log, vpu_error *err)
{
    s->device = device;
    s->options = c;
    s->log = log;
    s->is_virtual = !strncmp(device, "unix:", 5) || !strncmp(device, "tcp:", 4);
    return backend_usb_layout(c, &s->layout, err);
}

/* --- opening ------------------------------------------------------------- */

static void trace_packet(void *user, uint64_t ns, bool sent, const char *name,
                         uint32_t bytes)
{
    backend_usb_session *s = user;
    trc_arg args[] = {TRC_UINT("bytes", bytes)};
    trc_event e = {.name = name, .args = args, .n_args = 1};

    trc_instant(s->trace, sent ? s->out : s->in, ns, &e);
}

static vpu_status open_log(backend_usb_session *s, vpu_error *err)
{
    const char *path = s->options ? s->options->log : NULL;
    trc_writer *w = s->trace;
    xlink_log_config c = {.layout = s->layout, .user = s};

    if (path && strcmp(path, "-")) {
        vpu_status st = file_log_open(path, &s->file, err);

        if (st)
            return st;
    }
    c.file = s->file ? s->file : path ? stderr : NULL;
    if (w) {
        trc_track usb = trc_track_group(w, 0, "USB");

        s->out = trc_track_slices(w, usb, "to the stick", TRC_NS);
        s->in = trc_track_slices(w, usb, "from the stick", TRC_NS);
        c.packet = trace_packet;
    }
    return xlink_log_create(&c, &s->packets, err);
}

static vpu_status connect_link(backend_usb_session *s, vpu_error *err)
{
    usb_connect_options o = {
        .firmware = s->options ? s->options->firmware : NULL,
        .watchdog = true,
        .take_booted = s->options && s->options->take_booted,
        .log = s->log,
        .stop = s->options ? s->options->stop : NULL};

    return s->is_virtual
               ? transport_connect(s->device, CONNECT_MS, &s->transport, err)
               : usb_connect(s->device, &o, &s->transport, err);
}

vpu_status backend_usb_session_open(backend_usb_session *s,
                                    void (*print)(void *user, const char *text,
                                                  size_t n),
                                    void *print_user, vpu_error *err)
{
    mvnc_config c = {.layout = s->layout,
                     .timeout_ms = ANSWER_MS,
                     .ping_ms = PING_MS,
                     .dead_ms = ANSWER_MS,
                     .print = print,
                     .print_user = print_user,
                     .stop = s->options ? s->options->stop : NULL};
    vpu_status st = open_log(s, err);

    if (!st)
        st = connect_link(s, err);
    if (st)
        return st;
    s->counted = s->options && s->options->sessions;
    if (s->counted)
        atomic_fetch_add(s->options->sessions, 1);
    c.watch = xlink_log_watch(s->packets);
    st = mvnc_open(s->transport, &c, &s->mvnc, err);
    if (st) {
        backend_usb_session_explain(s, err);
        return st;
    }
    snprintf(s->about, sizeof s->about, "XLink %s, firmware %x.%x.%x.%x",
             xlink_layout_name(s->layout), mvnc_caps(s->mvnc)->firmware[0],
             mvnc_caps(s->mvnc)->firmware[1], mvnc_caps(s->mvnc)->firmware[2],
             mvnc_caps(s->mvnc)->firmware[3]);
    return VPU_OK;
}

void backend_usb_session_explain(backend_usb_session *s, vpu_error *err)
{
    s->failed = true;
    if (s->packets && err)
        xlink_log_last(s->packets, err);
}

/* --- closing ------------------------------------------------------------- */

void backend_usb_session_close(backend_usb_session *s)
{
    bool was_open = s->mvnc;
    char name[64] = "";
    vpu_error err;

    if (s->transport && !s->is_virtual)
        snprintf(name, sizeof name, "%s", usb_link_name(s->transport));
    if (mvnc_close(s->mvnc, &err) && !s->failed)
        log_warn(s->log, "closing the stick: %s", err.msg);
    transport_close(s->transport);
    if (*name && was_open && usb_wait_gone(name, GONE_MS, &err))
        log_warn(s->log, "%s", err.msg);
    xlink_log_free(s->packets);
    if (s->file && file_close_written(s->file, s->options->log, &err))
        log_warn(s->log, "%s", err.msg);
    if (s->counted)
        atomic_fetch_sub(s->options->sessions, 1);
    *s = (backend_usb_session){0};
}

/* What a stick does with half of an exchange of a program that was killed is
 * its own affair: when it boots anew at the first word, that is the reset. */
vpu_status backend_usb_reset(const char *device, const backend_stick_options *c,
                             const log_sink *log, vpu_error *err)
{
    backend_stick_options taking = c ? *c : (backend_stick_options){0};
    backend_usb_session s = {0};
    char name[64] = "";
    vpu_status st;

    taking.take_booted = true;
    st = backend_usb_session_choose(&s, device, &taking, log, err);
    if (!st)
        st = backend_usb_session_open(&s, NULL, NULL, err);
    if (st == VPU_ERR_IO && s.transport && !s.is_virtual)
        snprintf(name, sizeof name, "%s", usb_link_name(s.transport));
    backend_usb_session_close(&s);
    return *name && !usb_wait_gone(name, GONE_MS, NULL) &&
                   !usb_wait_unbooted(name, BACK_MS, NULL)
               ? VPU_OK
               : st;
}
