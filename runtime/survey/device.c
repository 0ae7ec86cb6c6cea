/* Questions about the link and the stick itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/word.h"
#include "runtime/survey/survey_priv.h"

enum {
    UNKNOWN_MS = 2000,
    SLICE_MS = 100,
    SHORTEST_MS = 11000,
    LONGEST_MS = 16000,
    FIRST_ID = XLINK_FIRST_ID
};

/* --- the link ------------------------------------------------------------ */

vpu_status survey_link(survey_state *v, vpu_error *err)
{
    survey_watch *w = &v->watch;
    survey_packet ping, pong, create, created;
    size_t at = survey_find(w, 0, survey_any(SURVEY_ASKED, XLINK_PING), &ping);

    (void)err;
    at = survey_find(w, at, survey_any(SURVEY_ANSWERED, XLINK_PING), &pong);
    at = survey_find(w, at, survey_any(SURVEY_ASKED, XLINK_CREATE_STREAM),
                     &create);
    at = survey_find(w, at, survey_any(SURVEY_ANSWERED, XLINK_CREATE_STREAM),
                     &created);
    if (at != SIZE_MAX)
        survey_see(v, SURVEY_link_ping,
                   survey_whether(created.header.flags & XLINK_FLAG_ACK),
                   "PING %.2f ms; the stream %.2f ms, flags %x",
                   survey_ms(&ping, &pong), survey_ms(&create, &created),
                   created.header.flags);
    return VPU_OK;
}

/* The first event of the firmware's own, of whatever kind. */
static void tell_first_id(survey_state *v)
{
    static const xlink_event kinds[] = {XLINK_WRITE, XLINK_READ_REL,
                                        XLINK_CREATE_STREAM};
    size_t first = SIZE_MAX;
    survey_packet p, found = {0};

    for (int i = 0; i < 3; i++) {
        size_t at = survey_find(&v->watch, 0,
                                survey_any(SURVEY_RECEIVED, kinds[i]), &p);

        if (at < first) {
            first = at;
            found = p;
        }
    }
    if (first != SIZE_MAX)
        survey_see(v, SURVEY_link_first_id,
                   survey_whether(found.header.id == FIRST_ID), "%u, a %s",
                   found.header.id, xlink_event_name(found.header.event));
}

static void tell_own_streams(survey_state *v)
{
    str text = {0};
    survey_packet p;
    size_t at = 0;

    while ((at = survey_find(&v->watch, at,
                             survey_any(SURVEY_RECEIVED, XLINK_CREATE_STREAM),
                             &p)) != SIZE_MAX) {
        str_printf(&text, "%s'%s' of %u bytes, id %u", text.n ? "; " : "",
                   p.header.name, p.header.size, p.header.stream);
        at++;
    }
    if (survey_packets(&v->watch))
        survey_see(v, SURVEY_link_streams, survey_whether(!text.n), "%s",
                   text.n ? str_text(&text) : "none");
    str_free(&text);
}

/* Of every command of the device monitor, in order, since each is released in
 * order, too: which came first, its ack or its release. */
static void tell_acks(survey_state *v)
{
    unsigned n = 0, late = 0;
    survey_packet p, ack, release;
    size_t at = 0, a, r = 0;
    uint32_t device = v->mvnc->device;

    while ((at = survey_find(&v->watch, at,
                             survey_on(SURVEY_ASKED, XLINK_WRITE, device),
                             &p)) != SIZE_MAX) {
        at++;
        a = survey_find(&v->watch, at, survey_any(SURVEY_ANSWERED, XLINK_WRITE),
                        &ack);
        while (a != SIZE_MAX && ack.header.id != p.header.id)
            a = survey_find(&v->watch, a + 1,
                            survey_any(SURVEY_ANSWERED, XLINK_WRITE), &ack);
        r = survey_find(&v->watch, r,
                        survey_on(SURVEY_RECEIVED, XLINK_READ_REL, device),
                        &release);
        if (a == SIZE_MAX || r == SIZE_MAX)
            break;
        n++;
        late += r++ < a;
    }
    if (n)
        survey_see(v, SURVEY_link_acks, survey_whether(!late),
                   "%u commands, %u released before they were acknowledged", n,
                   late);
}

static void tell_text(survey_state *v)
{
    str text = {0};

    pthread_mutex_lock(&v->watch.lock);
    for (size_t i = 0; i < v->watch.n_text; i++) {
        char c = v->watch.text[i];

        str_printf(&text, c >= 32 && c < 127 ? "%c" : "\\x%02x",
                   (unsigned char)c);
    }
    pthread_mutex_unlock(&v->watch.lock);
    survey_see(v, SURVEY_device_text, SURVEY_NOTED, "%s",
               text.n ? str_text(&text) : "none");
    str_free(&text);
}

void survey_streams(survey_state *v)
{
    tell_first_id(v);
    tell_own_streams(v);
    tell_acks(v);
    tell_text(v);
}

/* --- its commands -------------------------------------------------------- */

static void tell_capabilities(survey_state *v)
{
    const mvnc_capabilities *c = mvnc_caps(v->mvnc);
    const uint32_t *f = c->firmware;

    survey_see(v, SURVEY_device_capabilities,
               survey_whether(c->max_graphs == 10 && c->max_fifos == 20 &&
                              c->max_memory == 507510776),
               "%u graphs, %u FIFOs, %u bytes", c->max_graphs, c->max_fifos,
               c->max_memory);
    survey_see(v, SURVEY_device_executors,
               survey_whether(c->max_executors == 4), "%u", c->max_executors);
    survey_see(v, SURVEY_device_firmware,
               survey_whether(f[0] == 0x444c4454 && f[1] == 0x2480 && !f[2] &&
                              !f[3] && !c->tensor[0] && !c->tensor[1]),
               "%x %x %x %x, %x %x", f[0], f[1], f[2], f[3], c->tensor[0],
               c->tensor[1]);
}

static vpu_status ask_thermal(survey_state *v, vpu_error *err)
{
    float t[MVNC_N_THERMAL];
    vpu_status st = mvnc_thermal(v->mvnc, t, err);
    str text = {0};

    if (st)
        return survey_failed(v, SURVEY_device_thermal, st, err);
    str_printf(&text, "%g, %g; words", (double)t[0], (double)t[1]);
    for (int i = 0; i < MVNC_N_THERMAL; i++) {
        uint32_t word;

        memcpy(&word, &t[i], sizeof word);
        str_printf(&text, " %08x", word);
    }
    survey_see(v, SURVEY_device_thermal,
               survey_whether((t[0] == 0 || t[0] == 1 || t[0] == 2) &&
                              t[1] > -50 && t[1] < 150),
               "%s", str_text(&text));
    str_free(&text);
    return VPU_OK;
}

vpu_status survey_device(survey_state *v, vpu_error *err)
{
    tell_capabilities(v);
    return ask_thermal(v, err);
}

/* --- what may upset firmware --------------------------------------------- */

static vpu_status ask_create(survey_state *v, survey_id id, uint32_t size,
                             bool taken, vpu_error *err)
{
    xlink_header answer;
    vpu_status st = xlink_ask_create(v->mvnc->xlink, "deviceMonitor", size,
                                     &answer, v->mvnc->config.timeout_ms, err);
    bool same = answer.stream == v->mvnc->device;

    if (st)
        return survey_failed(v, id, st, err);
    survey_see(v, id,
               survey_whether(taken ? (answer.flags & XLINK_FLAG_ACK) && same
                                    : answer.flags == XLINK_FLAG_SIZE_TOO_BIG),
               "flags %x, stream %u (open: %u), size %u of %u", answer.flags,
               answer.stream, v->mvnc->device, answer.size, size);
    return VPU_OK;
}

static vpu_status ask_id(survey_state *v, vpu_error *err)
{
    uint8_t bytes[MVNC_DEVICE_BYTES] = {0};
    str text = {0};
    xlink_packet p;
    vpu_status st;

    word_set(bytes, MVNC_GET_DEVICE_ID);
    pthread_mutex_lock(&v->mvnc->device_lock);
    st = mvnc_send(v->mvnc, v->mvnc->device, bytes, sizeof bytes,
                   "GET_DEVICE_ID", err);
    if (!st)
        st = mvnc_take(v->mvnc,
                       &(const mvnc_expected){.stream = v->mvnc->device,
                                              .timeout_ms = UNKNOWN_MS,
                                              .what = "an answer"},
                       &p, err);
    if (st == VPU_ERR_LIMIT) {
        survey_see(v, SURVEY_device_id, SURVEY_NOTED, "no packet within %d ms",
                   UNKNOWN_MS);
        st = VPU_OK;
    } else if (!st) {
        str_printf(&text, "%u bytes:", p.bytes);
        for (uint32_t i = 0; i < p.bytes && i < 256; i++)
            str_printf(&text, " %02x", ((const uint8_t *)p.data)[i]);
        survey_see(v, SURVEY_device_id, SURVEY_NOTED, "%s", str_text(&text));
        st = xlink_release(v->mvnc->xlink, v->mvnc->device,
                           v->mvnc->config.timeout_ms, err);
    }
    pthread_mutex_unlock(&v->mvnc->device_lock);
    str_free(&text);
    return survey_failed(v, SURVEY_device_id, st, err);
}

vpu_status survey_odd(survey_state *v, vpu_error *err)
{
    uint32_t size = (MVNC_DEVICE_STREAM + XLINK_SIZE_UNIT - 1) /
                    XLINK_SIZE_UNIT * XLINK_SIZE_UNIT;
    vpu_status st = ask_id(v, err);

    if (!st)
        st = ask_create(v, SURVEY_create_same, size, true, err);
    return st ? st : ask_create(v, SURVEY_create_larger, 2 * size, false, err);
}

/* --- the watchdog -------------------------------------------------------- */

static void tell_zlp(survey_state *v)
{
    const usb_boot_record *b = &v->boot;

    if (v->config->is_virtual)
        return;
    if (!b->booted)
        survey_miss(v, SURVEY_boot_zlp, SURVEY_NO_ANSWER,
                    "it was booted already");
    else if (b->zlp == USB_ZLP_NONE)
        survey_see(v, SURVEY_boot_zlp, SURVEY_NOTED,
                   "no: it was gone before its last bytes were acknowledged");
    else
        survey_see(v, SURVEY_boot_zlp, SURVEY_NOTED,
                   b->zlp == USB_ZLP_TAKEN
                       ? "perhaps: half a second later it was still there, and "
                         "took one (%u bytes of firmware)"
                       : "no: half a second later it was gone (%u bytes of "
                         "firmware)",
                   b->image_bytes);
}

vpu_status survey_watchdog(survey_state *v, vpu_error *err)
{
    uint64_t start = survey_now_ms(), wait = 1000ull * v->config->watchdog_s;
    vpu_status st = VPU_ERR_LIMIT;
    xlink_packet p;

    tell_zlp(v);
    while (st != VPU_ERR_IO && survey_now_ms() - start < wait) {
        if (v->config->stop && atomic_load(v->config->stop))
            return err_set(err, VPU_ERR_IO, "interrupted");
        st = xlink_read(v->mvnc->xlink, v->mvnc->device, &p, SLICE_MS, err);
    }
    wait = survey_now_ms() - start;
    if (st == VPU_ERR_IO)
        survey_see(v, SURVEY_watchdog_time,
                   survey_whether(wait >= SHORTEST_MS && wait <= LONGEST_MS),
                   "gone after %.1f s", (double)wait * 1e-3);
    else
        survey_see(v, SURVEY_watchdog_time,
                   wait >= LONGEST_MS ? SURVEY_DIFFERS : SURVEY_NOTED,
                   "still there after %.1f s", (double)wait * 1e-3);
    return VPU_OK;
}
