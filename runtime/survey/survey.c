/* A survey's sessions. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/survey/survey_priv.h"
#include "runtime/usb/scan.h"

enum {
    CONNECT_MS = 5000,
    ANSWER_MS = 5000,
    PING_MS = 1000,
    GONE_MS = 10000,
    POLL_US = 20000
};

/* --- entries ------------------------------------------------------------- */

static const survey_entry questions[SURVEY_N] = {
#define SURVEY(session, id, mark, question, assumed) \
    {#id, #session, mark, question, assumed, SURVEY_NO_ANSWER, NULL, NULL},
#include "runtime/survey/survey.def"
};

const char *survey_verdict_name(survey_verdict v)
{
    static const char *const names[] = {"no answer", "not applicable", "noted",
                                        "agrees", "differs"};

    return names[v];
}

uint32_t survey_count(const survey *s, survey_verdict v)
{
    uint32_t n = 0;

    for (int i = 0; i < SURVEY_N; i++)
        n += s->entries[i].verdict == v;
    return n;
}

void survey_see(survey_state *v, survey_id id, survey_verdict verdict,
                const char *fmt, ...)
{
    survey_entry *e = &v->survey->entries[id];
    va_list ap;

    if (e->seen)
        return;
    va_start(ap, fmt);
    e->seen = arena_vprintf(v->arena, fmt, ap);
    va_end(ap);
    e->verdict = verdict;
    e->why = NULL;
}

void survey_miss(survey_state *v, survey_id id, survey_verdict verdict,
                 const char *fmt, ...)
{
    survey_entry *e = &v->survey->entries[id];
    va_list ap;

    if (e->seen || e->why)
        return;
    va_start(ap, fmt);
    e->why = arena_vprintf(v->arena, fmt, ap);
    va_end(ap);
    e->verdict = verdict;
}

vpu_status survey_failed(survey_state *v, survey_id id, vpu_status st,
                         const vpu_error *err)
{
    if (st)
        survey_miss(v, id, SURVEY_NO_ANSWER, "%s", err->msg);
    return st == VPU_ERR_MISMATCH || st == VPU_ERR_NOMEM ? VPU_OK : st;
}

/* Why nothing more of a session (NULL: of all) will be answered. */
static void miss_rest(survey_state *v, const char *session, const char *why)
{
    for (int i = 0; i < SURVEY_N; i++)
        if (!session || !strcmp(questions[i].session, session))
            survey_miss(v, (survey_id)i, SURVEY_NO_ANSWER, "%s", why);
}

/* --- sessions ------------------------------------------------------------ */

static bool stopped(const survey_state *v)
{
    return v->config->stop && atomic_load(v->config->stop);
}

static vpu_status connect_link(survey_state *v, bool pad, vpu_error *err)
{
    const survey_config *c = v->config;
    usb_connect_options o = {.firmware = c->firmware,
                             .watchdog = true,
                             .take_booted = c->take_booted,
                             .record = &v->boot,
                             .pad = pad,
                             .log = c->log,
                             .stop = c->stop};
    vpu_status st;

    v->boot = (usb_boot_record){0};
    if (c->is_virtual)
        return transport_connect(c->device, CONNECT_MS, &v->transport, err);
    st = usb_connect(v->survey->stick, &o, &v->transport, err);
    if (!st)
        snprintf(v->place, sizeof v->place, "%s", usb_link_name(v->transport));
    return st;
}

static vpu_status open_session(survey_state *v, bool pings, bool text, bool pad,
                               vpu_error *err)
{
    mvnc_config m = {.layout = v->config->layout,
                     .timeout_ms = ANSWER_MS,
                     .ping_ms = pings ? PING_MS : 0,
                     .dead_ms = ANSWER_MS,
                     .print = text ? survey_watch_text : NULL,
                     .print_user = &v->watch,
                     .stop = v->config->stop,
                     .watch = &v->watch.me};
    vpu_status st = survey_watch_start(&v->watch, v->config->watch, err);

    if (!st)
        st = connect_link(v, pad, err);
    return st ? st : mvnc_open(v->transport, &m, &v->mvnc, err);
}

static bool is_back(const char *place)
{
    bool back = false;
    vpu_error err;
    usb_scan s;

    if (usb_scan_start(&s, &err))
        return false;
    for (size_t i = 0; i < s.n_found; i++)
        back |= !s.found[i].booted &&
                !strcmp(usb_ports(s.found[i].name), usb_ports(place));
    usb_scan_end(&s);
    return back;
}

/* The stick is to be there, unbooted, for the next session. */
static void wait_unbooted(survey_state *v, uint64_t start, double answer_ms)
{
    uint64_t deadline = start + GONE_MS;

    while (!is_back(v->place) && survey_now_ms() < deadline)
        usleep(POLL_US);
    if (survey_now_ms() >= deadline)
        survey_miss(v, SURVEY_reset_answer, SURVEY_NO_ANSWER,
                    "answered in %.1f ms, but not back unbooted in %d ms",
                    answer_ms, GONE_MS);
    else
        survey_see(v, SURVEY_reset_answer, SURVEY_NOTED,
                   "answered in %.1f ms, unbooted after %llu ms", answer_ms,
                   (unsigned long long)(survey_now_ms() - start));
}

static void tell_reset(survey_state *v, uint64_t start, vpu_status st,
                       const vpu_error *err)
{
    survey_packet asked, answered;
    size_t at = survey_find(&v->watch, 0, survey_any(SURVEY_ASKED, XLINK_RESET),
                            &asked);
    double ms = 0;

    at = survey_find(&v->watch, at, survey_any(SURVEY_ANSWERED, XLINK_RESET),
                     &answered);
    if (at != SIZE_MAX)
        ms = survey_ms(&asked, &answered);
    else
        survey_miss(v, SURVEY_reset_answer, SURVEY_NO_ANSWER, "%s",
                    st ? err->msg : "RESET was not answered");
    if (!v->config->is_virtual)
        wait_unbooted(v, start, ms);
    else if (at != SIZE_MAX)
        survey_see(v, SURVEY_reset_answer, SURVEY_NOTED, "answered in %.1f ms",
                   ms);
}

static void close_session(survey_state *v)
{
    uint64_t start = survey_now_ms();
    bool was_open = v->mvnc;
    vpu_error err;
    vpu_status st = mvnc_close(v->mvnc, &err);

    v->mvnc = NULL;
    transport_close(v->transport);
    v->transport = NULL;
    if (was_open)
        tell_reset(v, start, st, &err);
    if (st)
        log_warn(v->config->log, "closing the stick: %s", err.msg);
    survey_watch_end(&v->watch);
}

/* --- what is asked in each ----------------------------------------------- */

static vpu_status ask_main(survey_state *v, vpu_error *err)
{
    vpu_status st;

    survey_booted(v);
    st = survey_link(v, err);
    if (!st)
        st = survey_device(v, err);
    if (!st)
        st = survey_graph(v, err);
    survey_streams(v);
    return st;
}

static const struct {
    const char *name;
    vpu_status (*ask)(survey_state *v, vpu_error *err);
    bool no_pings, text, pad;
} sessions[] = {{.name = "main", .ask = ask_main, .text = true},
                {.name = "odd", .ask = survey_odd},
                {.name = "verify", .ask = survey_verify},
                {.name = "allocate", .ask = survey_allocate},
                {.name = "watchdog",
                 .ask = survey_watchdog,
                 .no_pings = true,
                 .pad = true}};
enum { N_SESSIONS = sizeof sessions / sizeof *sessions };

static vpu_status run_session(survey_state *v, int i, vpu_error *err)
{
    vpu_error local;
    vpu_status st = open_session(v, !sessions[i].no_pings, sessions[i].text,
                                 sessions[i].pad, err);

    if (st) {
        miss_rest(v, sessions[i].name, err->msg);
        close_session(v);
        return st;
    }
    if (sessions[i].ask(v, &local))
        miss_rest(v, sessions[i].name,
                  arena_printf(v->arena, "not asked, after: %s", local.msg));
    close_session(v);
    miss_rest(v, sessions[i].name, "not seen");
    return VPU_OK;
}

static bool asked(const survey_config *c, int i)
{
    return c->watchdog_s || sessions[i].ask != survey_watchdog;
}

vpu_status survey_run(const survey_config *c, arena *a, survey *out,
                      vpu_error *err)
{
    survey_state v = {.config = c,
                      .survey = out,
                      .arena = a,
                      .deadline_ms = survey_now_ms() + 1000ull * c->timeout_s};
    vpu_status st = VPU_ERR_LIMIT, one;
    vpu_error e;

    *out = (survey){0};
    memcpy(out->entries, questions, sizeof questions);
    snprintf(out->stick, sizeof out->stick, "%s", c->device);
    survey_unbooted(&v);
    err_set(err, st, "the time was up before a session");
    for (int i = 0; i < N_SESSIONS && !stopped(&v); i++) {
        if (!asked(c, i))
            miss_rest(&v, sessions[i].name, "not to be asked: --watchdog 0");
        else if (survey_now_ms() >= v.deadline_ms)
            miss_rest(&v, sessions[i].name, "not asked: --timeout is over");
        else if (!(one = run_session(&v, i, &e)))
            st = VPU_OK;
        else if (st && err)
            st = one, *err = e;
    }
    miss_rest(&v, NULL, "interrupted");
    return stopped(&v) ? err_set(err, VPU_ERR_IO, "interrupted") : st;
}
