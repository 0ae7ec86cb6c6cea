/* vpu run: a layer on the simulated VPU. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/gdb.h"
#include "runtime/cli/live.h"
#include "runtime/cli/run_options.h"
#include "runtime/cli/target_graph.h"

typedef struct {
    run_options o;
    arena *a;
    target_graph t;
    live live;
    str report;
    int kept_stdout; /* while standard output is redirected; else -1 */
    bool checking;   /* --check, in which kernels print nothing */
    size_t findings; /* of it */
} session;

/* What kernels print goes where a person sees it, but not into the JSON. */
static void print_text(void *user, const char *text, size_t n)
{
    const session *s = user;

    if (s->checking)
        return;
    cli_progress_done();
    cli_put(s->o.json ? stderr : stdout, text, n);
}

/* Drivers print what kernels print themselves, on standard output, some when
 * the queue is closed: while JSON is expected there, it goes to standard error.
 */
static void redirect(session *s)
{
    fflush(stdout);
    s->kept_stdout = s->o.json ? dup(1) : -1;
    if (s->kept_stdout >= 0)
        dup2(2, 1);
}

static void restore(session *s)
{
    fflush(stdout);
    if (s->kept_stdout >= 0) {
        dup2(s->kept_stdout, 1);
        close(s->kept_stdout);
    }
    s->kept_stdout = -1;
}

static vpu_status fill(void *user, vpu_graph *g, vpu_error *err)
{
    session *s = user;

    return target_graph_fill(&s->t, g, err);
}

/* As vpu check. */
static vpu_status check_first(session *s, vpu_graph *g, vpu_error *err)
{
    const vpu_check_options options = {.struct_size = sizeof options,
                                       .checks = s->o.checkers,
                                       .fill = fill,
                                       .user = s};
    vpu_findings *found;
    const char *text;
    vpu_status st;

    s->checking = true;
    st = vpu_graph_check(&found, g, &options, err);
    s->checking = false;
    if (st)
        return st;
    cli_drop_hints(); /* the run tells them, if it stops */
    text = vpu_findings_report(found);
    cli_progress_done();
    if (text)
        cli_put_shown(stderr, text, strlen(text));
    s->findings = vpu_findings_error_count(found);
    vpu_findings_free(found);
    return VPU_OK;
}

/* Files are open. */
static vpu_status opened(void *user, vpu_graph *g, vpu_error *err)
{
    session *s = user;
    vpu_status st = s->o.view ? live_start(&s->live, err) : VPU_OK;

    if (!st && s->o.check)
        st = check_first(s, g, err);
    if (!st)
        redirect(s);
    return st;
}

static target_words words_of(session *s)
{
    target_words w = target_words_of(&s->o.target, s->o.backend);

    w.context.print = print_text;
    w.context.user = s;
    w.context.tuned = s->o.tuned;
    w.context.local = s->o.local;
    w.context.debugger = s->o.gdb;
    w.context.stops = s->o.debug.stop;
    memcpy(w.context.break_at, s->o.debug.at, sizeof w.context.break_at);
    return w;
}

static vpu_status run_graph(session *s, vpu_error *err)
{
    vpu_run_options options = run_options_words(&s->o);
    vpu_result *r;
    const char *text;
    vpu_status st;

    if (s->o.view)
        options.trace = s->live.path;
    options.opened = opened;
    options.fill = fill;
    options.user = s;
    st = vpu_graph_run(s->t.graph, &options, &r, err);
    if (st)
        return st;
    text = s->o.json ? vpu_result_json(r) : vpu_result_text(r);
    if (text)
        str_puts(&s->report, text);
    else
        st = err_set(err, VPU_ERR_NOMEM, "no memory for the report");
    vpu_result_free(r);
    return st;
}

static vpu_status run(session *s, vpu_error *err)
{
    const target_words words = words_of(s);
    vpu_status st = target_graph_open(&s->o.target, &words, s->a, &s->t, err);

    if (!st)
        st = target_graph_check_inputs(&s->t, err);
    if (!st && s->o.view)
        st = live_prepare(&s->live, s->o.trace, s->a, err);
    if (!st)
        st = run_graph(s, err);
    target_graph_close(&s->t);
    restore(s);
    if (st)
        return st;
    cli_progress_done();
    cli_put(stdout, str_text(&s->report), s->report.n);
    return VPU_OK;
}

int cli_run_main(int argc, char **argv)
{
    session s = {.a = arena_create(0), .kept_stdout = -1};
    vpu_error err = {0};
    int rc = run_options_parse(argc, argv, &s.o, s.a);

    if (!rc && s.o.gdb && !gdb_attached()) {
        gdb_become(argc, argv, &err);
        rc = cli_fail(&err);
    } else if (!rc) {
        if (run(&s, &err)) {
            rc = cli_fail(&err);
            cli_tell_hints();
        } else if (s.findings) {
            rc = CLI_DIFFERS;
        }
    }
    fflush(stdout); /* the report, before the window is closed */
    if (live_end(&s.live, rc) && !rc)
        rc = CLI_ERROR;
    str_free(&s.report);
    arena_destroy(s.a);
    return rc;
}
