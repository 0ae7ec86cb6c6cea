/* A session from launch to its end: what the debugger tells, and requests that
 * make the kernel go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/dap/server.h"
#include "runtime/json/jsontext.h"

void dap_new_stop(dap_server *s)
{
    arena_destroy(s->arena);
    s->arena = arena_create(0);
    s->first_handle += (uint32_t)s->n_handles + 1;
    s->generation++;
    s->handles = NULL;
    s->n_handles = s->cap_handles = 0;
}

/* --- told by the debugger ------------------------------------------------ */

static const char *reason_of(const dap_server *s, const debug_stop *stop)
{
    if (stop->state == DEBUG_ENDED)
        return "pause"; /* clients refuse reasons that they do not know */
    if (!s->entered && s->stop_on_entry && stop->cause == DEBUG_BY_STEP)
        return "entry";
    switch (stop->cause) {
    case DEBUG_BY_BREAKPOINT:
        return "breakpoint";
    case DEBUG_BY_WATCH:
        return "data breakpoint";
    case DEBUG_BY_PAUSE:
        return "pause";
    case DEBUG_BY_FAULT:
        return "exception";
    default:
        return "step";
    }
}

static void tell_stop(dap_server *s, const debug_stop *stop)
{
    const char *text = stop->state == DEBUG_ENDED && !*stop->text
                           ? "the run has ended"
                           : stop->text;
    json_t *ids = json_array(), *body;

    for (uint32_t k = 0; k < stop->n_points; k++) {
        uint32_t id = dap_point_id(s, stop->points[k]);

        if (id)
            json_array_append_new(ids, json_integer(id));
    }
    body = json_pack("{s:s, s:i, s:b, s:o}", "reason", reason_of(s, stop),
                     "threadId", DAP_THREAD, "allThreadsStopped", 1,
                     "hitBreakpointIds", ids);
    if (*text) {
        json_object_set_new(body, "description", jsontext_string(text));
        json_object_set_new(body, "text", jsontext_string(text));
    }
    if (stop->cause == DEBUG_BY_NOTHING && stop->state == DEBUG_STANDS) {
        dap_output(s, "console", stop->text, strlen(stop->text));
        dap_output(s, "console", "\n", 1);
    }
    dap_event(s, "stopped", body);
    s->entered = true;
}

/* Compiling worked: the client hears so, and of its breakpoints. */
static void begin(dap_server *s, debug_session *session)
{
    s->session = session;
    debug_stop_at_faults(session, s->stops_at_faults && !s->no_debug);
    dap_respond(s, s->launch_seq, "launch", NULL, NULL);
    s->launching = false;
    dap_event(s, "process",
              json_pack("{s:o, s:b, s:s}", "name",
                        jsontext_string(dap_text(s->launch, "program")),
                        "isLocalProcess", 1, "startMethod", "launch"));
    dap_points_set(s);
    while (!s->over && !s->moved && !s->configured && dap_attend(s, true))
        ;
    if (s->configured && !s->moved && !s->over &&
        debug_go(session, s->stop_on_entry ? DEBUG_STEP_IN : DEBUG_CONTINUE,
                 NULL))
        s->over = true;
}

static void end(dap_server *s, const debug_stop *stop)
{
    if (*stop->text && stop->status) {
        dap_output(s, "stderr", stop->text, strlen(stop->text));
        dap_output(s, "stderr", "\n", 1);
    }
    if (!s->stop_at_end)
        s->moved = true;
    else
        tell_stop(s, stop);
}

static void on_stopped(void *user, debug_session *session,
                       const debug_stop *stop)
{
    dap_server *s = user;

    dap_new_stop(s);
    s->stop = *stop;
    snprintf(s->stop_text, sizeof s->stop_text, "%s", stop->text);
    s->stop.text = s->stop_text;
    s->stands = true;
    s->moved = false;
    s->wish = DEBUG_GOES_ON;
    if (s->launching)
        begin(s, session);
    else if (stop->state == DEBUG_ENDED)
        end(s, stop);
    else
        tell_stop(s, stop);
    if (stop->state != DEBUG_NOT_BEGUN)
        while (!s->over && !s->moved && dap_attend(s, true))
            ;
    s->stands = false;
}

static debug_wish on_passing(void *user, debug_session *session)
{
    dap_server *s = user;

    (void)session;
    while (!s->over && s->wish == DEBUG_GOES_ON && dap_attend(s, false))
        ;
    return s->over || s->lost || dap_inbox_ended(&s->inbox) ? DEBUG_LEAVES
                                                            : s->wish;
}

static void on_print(void *user, const char *text, size_t n)
{
    dap_output(user, "stdout", text, n);
}

static void on_told(void *user, const char *text)
{
    dap_server *s = user;
    str line = {0};

    str_printf(&line, "%s\n", text);
    dap_output(s, "console", line.data, line.n);
    str_free(&line);
}

static void on_note(void *user, log_level level, const char *text)
{
    str line = {0};

    str_printf(&line, "%s: %s\n", level == LOG_WARNING ? "warning" : "note",
               text);
    dap_output(user, "console", line.data, line.n);
    str_free(&line);
}

/* --- launch -------------------------------------------------------------- */

/* "--shape in0=…" for each of a member, which is a list of texts or an object
 * of them. */
static void add_list(arena *a, const json_t *args, const char *name,
                     const char *option, const char ***words, size_t *n,
                     size_t *cap)
{
    json_t *list = json_object_get(args, name), *v;
    const char *key;
    size_t i;

    json_array_foreach(list, i, v)
    {
        if (!json_is_string(v))
            continue;
        *arena_append(a, *words, *n, *cap) = option;
        *arena_append(a, *words, *n, *cap) =
            arena_strdup(a, json_string_value(v));
    }
    json_object_foreach(list, key, v)
    {
        char *text = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);

        *arena_append(a, *words, *n, *cap) = option;
        *arena_append(a, *words, *n, *cap) =
            arena_printf(a, "%s=%s", key, text ? text : json_string_value(v));
        free(text);
    }
}

static void read_launch(const json_t *args, arena *a, dap_launch *out)
{
    const char *layer = dap_text(args, "layer"), **words = NULL;
    json_t *more = json_object_get(args, "args"), *v;
    size_t n = 0, cap = 0, i;

    *arena_append(a, words, n, cap) =
        arena_strdup(a, dap_text(args, "program"));
    if (layer) {
        *arena_append(a, words, n, cap) = "--layer";
        *arena_append(a, words, n, cap) = arena_strdup(a, layer);
    }
    add_list(a, args, "shapes", "--shape", &words, &n, &cap);
    add_list(a, args, "params", "--param", &words, &n, &cap);
    add_list(a, args, "inputs", "--input", &words, &n, &cap);
    if (dap_flag(args, "bundles", false))
        *arena_append(a, words, n, cap) = "--bundles";
    json_array_foreach(more, i, v) if (json_is_string(v)) *
        arena_append(a, words, n, cap) = arena_strdup(a, json_string_value(v));
    out->n_words = (uint32_t)n;
    *arena_append(a, words, n, cap) = NULL;
    out->words = words;
    out->cwd = arena_strdup(a, dap_text(args, "cwd"));
}

static void leave(dap_server *s, vpu_status st, const vpu_error *err)
{
    s->session = NULL;
    if (s->launching) {
        s->launching = false;
        dap_respond(s, s->launch_seq, "launch", NULL,
                    st ? err->msg : "the client has left");
    } else if (!s->over) {
        dap_event(s, "exited",
                  json_pack("{s:i}", "exitCode", s->stop.status ? 1 : 0));
    }
    if (!s->over)
        dap_event(s, "terminated", NULL);
}

void dap_run_session(dap_server *s)
{
    const log_sink log = {.line = on_note, .user = s};
    const debug_control control = {.stopped = on_stopped,
                                   .passing = on_passing,
                                   .print = on_print,
                                   .told = on_told,
                                   .user = s};
    arena *a = arena_create(0);
    debug_config what = {0};
    vpu_error err = {0};
    bool failed;
    dap_launch l;
    vpu_status st;

    read_launch(s->launch, a, &l);
    st = s->cfg->open(s->cfg->user, &l, &log, &what, &err);
    if (!st) {
        what.control = &control;
        what.interrupt = &s->attention;
        what.run.log = &log;
        st = debug_run(&what, &failed, &err);
    }
    leave(s, st, &err);
    if (s->cfg->close)
        s->cfg->close(s->cfg->user);
    dap_new_stop(s);
    arena_destroy(a);
}

vpu_status dap_do_launch(dap_server *s, const json_t *args, json_t *body,
                         vpu_error *err)
{
    (void)body;
    if (s->launched)
        return err_set(err, VPU_ERR_INVALID,
                       "this adapter has launched already: start another");
    if (!dap_text(args, "program"))
        return err_set(err, VPU_ERR_INVALID,
                       "launch needs \"program\", a binding file");
    s->launch = json_deep_copy(args);
    s->stop_on_entry = dap_flag(args, "stopOnEntry", false);
    s->stop_at_end = dap_flag(args, "stopAtEnd", false);
    s->no_debug = dap_flag(args, "noDebug", false);
    s->launched = s->launching = true;
    return VPU_OK;
}

vpu_status dap_do_configurationDone(dap_server *s, const json_t *args,
                                    json_t *body, vpu_error *err)
{
    (void)args;
    (void)body;
    (void)err;
    s->configured = true;
    return VPU_OK;
}

/* --- moves --------------------------------------------------------------- */

static vpu_status go(dap_server *s, debug_move move, vpu_error *err)
{
    vpu_status st;

    if (s->stop.state == DEBUG_NOT_BEGUN && s->session && !s->configured)
        return err_set(err, VPU_ERR_INVALID,
                       "the run begins with configurationDone");
    st = debug_go(s->session, move, err);
    if (!st) {
        s->moved = true;
        s->stands = false; /* what comes behind is asked of a run */
    }
    return st;
}

/* Of instructions where that is asked for: of the SHAVE program. */
static vpu_status step(dap_server *s, const json_t *args, debug_move move,
                       vpu_error *err)
{
    const char *unit = dap_text(args, "granularity");

    return go(s, unit && !strcmp(unit, "instruction") ? DEBUG_BUNDLE : move,
              err);
}

vpu_status dap_do_continue(dap_server *s, const json_t *args, json_t *body,
                           vpu_error *err)
{
    (void)args;
    json_object_set_new(body, "allThreadsContinued", json_true());
    return go(s, DEBUG_CONTINUE, err);
}

vpu_status dap_do_next(dap_server *s, const json_t *args, json_t *body,
                       vpu_error *err)
{
    (void)body;
    return step(s, args, DEBUG_STEP_OVER, err);
}

vpu_status dap_do_stepIn(dap_server *s, const json_t *args, json_t *body,
                         vpu_error *err)
{
    (void)body;
    return step(s, args, DEBUG_STEP_IN, err);
}

vpu_status dap_do_stepOut(dap_server *s, const json_t *args, json_t *body,
                          vpu_error *err)
{
    (void)body;
    (void)args;
    return go(s, DEBUG_STEP_OUT, err);
}

vpu_status dap_do_stepBack(dap_server *s, const json_t *args, json_t *body,
                           vpu_error *err)
{
    (void)args;
    (void)body;
    return go(s, DEBUG_BACK, err);
}

vpu_status dap_do_reverseContinue(dap_server *s, const json_t *args,
                                  json_t *body, vpu_error *err)
{
    (void)args;
    (void)body;
    return go(s, DEBUG_REVERSE, err);
}

vpu_status dap_do_pause(dap_server *s, const json_t *args, json_t *body,
                        vpu_error *err)
{
    (void)args;
    (void)body;
    (void)err;
    if (!s->stands)
        s->wish = DEBUG_PAUSES;
    return VPU_OK;
}

/* --- ends ---------------------------------------------------------------- */

vpu_status dap_do_disconnect(dap_server *s, const json_t *args, json_t *body,
                             vpu_error *err)
{
    (void)args;
    (void)body;
    (void)err;
    s->over = true;
    return VPU_OK;
}

vpu_status dap_do_terminate(dap_server *s, const json_t *args, json_t *body,
                            vpu_error *err)
{
    (void)args;
    (void)body;
    (void)err;
    s->moved = true; /* without a goal the session ends */
    s->wish = DEBUG_LEAVES;
    return VPU_OK;
}

/* Requests are done at once; one that still waits was marked as it came. */
vpu_status dap_do_cancel(dap_server *s, const json_t *args, json_t *body,
                         vpu_error *err)
{
    (void)s;
    (void)args;
    (void)body;
    (void)err;
    return VPU_OK;
}
