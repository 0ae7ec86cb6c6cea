/* Answers and events, and finding what a request is answered by. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/dap/server.h"
#include "runtime/json/jsontext.h"

/* --- members ------------------------------------------------------------- */

const char *dap_text(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

bool dap_flag(const json_t *o, const char *name, bool otherwise)
{
    const json_t *v = json_object_get(o, name);

    return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

json_int_t dap_number(const json_t *o, const char *name, json_int_t otherwise)
{
    const json_t *v = json_object_get(o, name);

    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

/* --- writing ------------------------------------------------------------- */

static void write_all(dap_server *s, const char *bytes, size_t n)
{
    while (n && !s->lost) {
        ssize_t did = write(s->cfg->out, bytes, n);

        if (did < 0 && errno == EINTR)
            continue;
        s->lost = did <= 0;
        bytes += did > 0 ? did : 0;
        n -= did > 0 ? (size_t)did : 0;
    }
}

/* Takes the reference. Notes come from whatever thread works for the session.
 */
static void put(dap_server *s, json_t *m)
{
    str out = {0};
    char *text;

    pthread_mutex_lock(&s->writing);
    json_object_set_new(m, "seq", json_integer((json_int_t)++s->seq));
    text = json_dumps(m, JSON_COMPACT);
    if (text) {
        str_printf(&out, "Content-Length: %zu\r\n\r\n", strlen(text));
        str_puts(&out, text);
        write_all(s, out.data, out.n);
    }
    pthread_mutex_unlock(&s->writing);
    free(text);
    str_free(&out);
    json_decref(m);
}

void dap_event(dap_server *s, const char *name, json_t *body)
{
    json_t *m = json_pack("{s:s, s:s, s:o}", "type", "event", "event", name,
                          "body", body ? body : json_object());

    if (s->later)
        json_array_append_new(s->later, m);
    else
        put(s, m);
}

void dap_output(dap_server *s, const char *category, const char *text, size_t n)
{
    char *copy = malloc(n + 1);

    if (copy && n) {
        memcpy(copy, text, n);
        copy[n] = 0;
        dap_event(s, "output",
                  json_pack("{s:s, s:o}", "category", category, "output",
                            jsontext_string(copy)));
    }
    free(copy);
}

void dap_respond(dap_server *s, json_int_t to, const char *command,
                 json_t *body, const char *failure)
{
    json_t *m =
        json_pack("{s:s, s:I, s:s, s:b}", "type", "response", "request_seq", to,
                  "command", command, "success", failure == NULL);

    if (failure) {
        json_decref(body);
        body = json_pack("{s:{s:i, s:s, s:{s:o}, s:b}}", "error", "id", 1,
                         "format", "{text}", "variables", "text",
                         jsontext_string(failure), "showUser", 0);
        json_object_set_new(m, "message", jsontext_string(failure));
    }
    json_object_set_new(m, "body", body ? body : json_object());
    put(s, m);
}

/* --- requests ------------------------------------------------------------ */

static const struct {
    const char *command;
    dap_when when;
    dap_handler *run;
} requests[] = {
#define REQUEST(name, when) {#name, DAP_##when, dap_do_##name},
#include "runtime/dap/requests.def"
#undef REQUEST
};
enum { N_REQUESTS = sizeof requests / sizeof *requests };

/* Why it cannot be now; NULL: it can. */
static const char *refusal(const dap_server *s, dap_when when)
{
    if (when >= DAP_INITIALIZED && !s->initialized)
        return "initialize comes first";
    if (when >= DAP_SESSION && !s->session)
        return "there is no session: launch comes first, or it has ended";
    if (when >= DAP_STOPPED && !s->stands)
        return "notStopped";
    return NULL;
}

/* Events that a request causes come behind its response. */
static void answer(dap_server *s, int k, json_int_t seq, const json_t *args)
{
    json_t *body = json_object(), *events = json_array(), *event;
    const char *why = refusal(s, requests[k].when);
    vpu_error err = {0};
    size_t i;

    s->later = events;
    if (!why && requests[k].run(s, args, body, &err))
        why = err.msg;
    s->later = NULL;
    if (!why && s->launching && !strcmp(requests[k].command, "launch")) {
        s->launch_seq = seq; /* answered when it is known how it went */
        json_decref(body);
    } else {
        dap_respond(s, seq, requests[k].command, body, why);
    }
    json_array_foreach(events, i, event) put(s, json_incref(event));
    json_decref(events);
}

static void dispatch(dap_server *s, const dap_message *m)
{
    const char *type = dap_text(m->json, "type");
    const char *command = dap_text(m->json, "command");
    json_int_t seq = dap_number(m->json, "seq", 0);
    arena *a;
    int k = 0;

    if (type && !strcmp(type, "response"))
        return; /* we ask nothing */
    if (!m->json || !type || strcmp(type, "request") != 0 || !command) {
        dap_respond(s, seq, command ? command : "", NULL,
                    m->why ? m->why : "that is no request");
        return;
    }
    while (k < N_REQUESTS && strcmp(requests[k].command, command) != 0)
        k++;
    a = arena_create(0);
    if (m->cancelled)
        dap_respond(s, seq, command, NULL, "cancelled");
    else if (k == N_REQUESTS)
        dap_respond(s, seq, command, NULL,
                    arena_printf(a, "there is no request '%.100s'", command));
    else
        answer(s, k, seq, json_object_get(m->json, "arguments"));
    arena_destroy(a);
}

bool dap_attend(dap_server *s, bool wait)
{
    dap_message *m = s->lost ? NULL : dap_inbox_take(&s->inbox, wait);

    if (!m)
        return false;
    dispatch(s, m);
    dap_message_free(m);
    return true;
}

/* --- the top ------------------------------------------------------------- */

vpu_status dap_serve(const dap_config *cfg, vpu_error *err)
{
    dap_server *s = calloc(1, sizeof *s);
    vpu_status st;

    if (!s)
        return err_set(err, VPU_ERR_NOMEM, "no memory");
    s->cfg = cfg;
    s->stops_at_faults = true;
    pthread_mutex_init(&s->writing, NULL);
    st = dap_inbox_open(&s->inbox, cfg, &s->attention, err);
    if (!st) {
        s->kept = arena_create(0);
        s->arena = arena_create(0);
        while (!s->over && dap_attend(s, true))
            if (s->launching)
                dap_run_session(s);
        dap_inbox_close(&s->inbox);
        dap_points_free(s);
        arena_destroy(s->arena);
        arena_destroy(s->kept);
    }
    json_decref(s->launch);
    pthread_mutex_destroy(&s->writing);
    free(s);
    return st;
}
