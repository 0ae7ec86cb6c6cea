/* vpu run: a layer on the simulated VPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/gdb.h"
#include "runtime/cli/live.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/run_options.h"
#include "runtime/graph/io.h"
#include "runtime/graph/share.h"
#include "runtime/report/kanata.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"
#include "runtime/tune/tune.h"

/* --- the steps ----------------------------------------------------------- */

enum { MAX_WORK = 132 }; /* compile, and fill and run of each repetition */

typedef struct {
    struct {
        const char *name;
        uint64_t begin, end;
    } done[MAX_WORK];
    uint32_t n;
} host_work;

typedef struct {
    run_options o;
    arena *a;
    log_sink log;
    target t;
    backend b;
    backend_result *results; /* repeat rows of n_launches */
    trc_writer *trace;
    file_out folded, kanata_file;
    kanata *kanata;
    const exec_observer *observer; /* the kanata's */
    host_work host;
    live live;
    str report;
    int kept_stdout;   /* while standard output is redirected; else -1 */
    uint32_t findings; /* of --check */
} session;

/* What the host does from now on; NULL = nothing more. */
static void host_does(session *s, const char *what)
{
    host_work *h = &s->host;
    uint64_t t = (uint64_t)(clock_seconds() * 1e9);

    if (h->n && !h->done[h->n - 1].end)
        h->done[h->n - 1].end = t;
    if (what && h->n < MAX_WORK) {
        h->done[h->n].name = what;
        h->done[h->n++].begin = t;
    }
}

/* Wall-clock times, so only where they are asked for: other traces are the
 * same from run to run. */
static void trace_host(session *s)
{
    const host_work *h = &s->host;
    trc_track track;

    if (!s->trace || !s->o.trace_host)
        return;
    track = trc_track_slices(s->trace, trc_track_group(s->trace, 0, "host"),
                             "host work", TRC_NS);
    for (uint32_t i = 0; i < h->n; i++)
        trc_slice(s->trace, track, h->done[i].begin - h->done[0].begin,
                  h->done[i].end - h->done[0].begin,
                  &(trc_event){.name = h->done[i].name});
}

static vpu_status open_trace(session *s, vpu_error *err)
{
    trc_config cfg = {.level = s->o.trace_level,
                      .clk_mhz = (uint32_t)s->t.desc.clk_mhz};
    vpu_status st = VPU_OK;

    if (s->o.view && !(st = live_prepare(&s->live, s->o.trace, s->a, err)))
        s->o.trace = s->live.path;
    if (st || (!s->o.trace && !s->o.trace_json && !s->o.vcd))
        return st;
    st = trc_writer_create(&cfg, &s->trace, err);
    if (!st && s->o.trace)
        st = trc_writer_add(s->trace, TRC_PERFETTO, s->o.trace, err);
    if (!st && s->o.trace_json)
        st = trc_writer_add(s->trace, TRC_CHROME_JSON, s->o.trace_json, err);
    if (!st && s->o.vcd)
        st = trc_writer_add(s->trace, TRC_VCD, s->o.vcd, err);
    if (!st && s->o.view)
        st = live_start(&s->live, err);
    return st;
}

static vpu_status open_kanata(session *s, vpu_error *err)
{
    uint64_t most = 0;
    vpu_status st;

    if (!s->o.kanata)
        return VPU_OK;
    for (uint32_t i = 0; i < s->t.graph->n_launches; i++) {
        const graph_launch *l = &s->t.graph->launches[i];
        uint64_t n = 1;

        for (int d = 0; d < 3; d++)
            n *= l->local[d] ? l->global[d] / l->local[d] : 0;
        most = n > most ? n : most;
    }
    if (s->o.kanata_group >= most)
        return err_set(err, VPU_ERR_INVALID,
                       "--kanata-group %llu: there are %llu work-groups",
                       (unsigned long long)s->o.kanata_group,
                       (unsigned long long)most);
    st = file_out_open(&s->kanata_file, s->o.kanata, err);
    if (!st)
        s->kanata = kanata_create(s->kanata_file.stream, s->o.kanata_group,
                                  s->o.kanata_bundles);
    return st;
}

static report_source source_of(const session *s)
{
    return (report_source){.graph = s->t.graph,
                           .run = &s->b,
                           .desc = &s->t.desc,
                           .timing = s->o.target.how.timing,
                           .results = s->results,
                           .repeat = s->o.repeat};
}

static vpu_status write_folded(session *s, vpu_error *err)
{
    report_source r = source_of(s);
    str out = {0};

    report_profile_folded(&r, &out);
    fwrite(str_text(&out), 1, out.n, s->folded.stream);
    str_free(&out);
    return file_out_commit(&s->folded, err);
}

/* The contents of the outputs, by buffer; in place where that can be. */
static vpu_status read_outputs(session *s, void **data, vpu_error *err)
{
    const graph *g = s->t.graph;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        if (s->b.ops->inspect) {
            data[i] = backend_buffer(&s->b, i);
        } else if (g->buffers[i].role == GRAPH_OUTPUT) {
            data[i] = arena_push(s->a, g->buffers[i].bytes, 1, 64);
            st = s->b.ops->read(s->b.self, i, data[i], err);
        }
    }
    return st;
}

static vpu_status save(session *s, vpu_error *err)
{
    void **data = arena_array(s->a, void *, s->t.graph->n_buffers + 1);
    report_source r = source_of(s);
    str json = {0};
    vpu_status st = read_outputs(s, data, err);

    if (!st)
        st = graph_output_save(s->o.output, s->t.graph, data, err);
    report_json(&r, &json);
    if (!st)
        st = file_write(file_join(s->a, s->o.output, "report.json"), json.data,
                        json.n, err);
    str_free(&json);
    return st;
}

static bool wants_json(const session *s)
{
    return s->o.json;
}

static void make_report(session *s)
{
    report_source r = source_of(s);

    if (wants_json(s))
        report_json(&r, &s->report);
    else
        report_text(&r, &s->report);
    if (s->o.profile && !wants_json(s))
        report_profile_text(&r, s->o.profile, &s->report);
}

/* What kernels print goes where a person sees it, but not into the JSON. */
static void print_text(void *user, const char *text, size_t n)
{
    const session *s = user;

    cli_progress_done();
    cli_put(wants_json(s) ? stderr : stdout, text, n);
}

/* Drivers print what kernels print themselves, on standard output, some when
 * the queue is closed: while JSON is expected there, it goes to standard error.
 */
static void redirect(session *s)
{
    fflush(stdout);
    s->kept_stdout = wants_json(s) ? dup(1) : -1;
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

/* Some launch must have the item to stop at. */
static vpu_status check_item(const session *s, vpu_error *err)
{
    const uint32_t *at = s->o.debug.at;

    for (uint32_t i = 0; i < s->t.graph->n_launches; i++) {
        const graph_launch *l = &s->t.graph->launches[i];

        if (!l->text && at[0] < l->global[0] && at[1] < l->global[1] &&
            at[2] < l->global[2])
            return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "--break-at gid=%u,%u,%u: no kernel of the run has this "
                   "work-item",
                   at[0], at[1], at[2]);
}

static vpu_status fill_checked(void *user, const backend *b, vpu_error *err)
{
    const session *s = user;

    return target_fill_all(&s->o.target, &s->t, b, s->a, err);
}

/* As vpu check. */
static vpu_status check_first(session *s, vpu_error *err)
{
    layer_check_config cfg = {.enabled = s->o.checkers,
                              .max_findings = 100,
                              .run = target_backend(&s->o.target, &s->t),
                              .fill = fill_checked,
                              .fill_user = s};
    layer_check_report r;
    str out = {0};
    vpu_status st;

    cfg.run.log = &s->log;
    st = layer_check(&cfg, s->t.graph, s->a, &r, err);

    if (st)
        return st;
    layer_check_print_text(&r, s->t.graph, s->a, &out);
    cli_progress_done();
    cli_put_shown(stderr, str_text(&out), out.n);
    str_free(&out);
    s->findings = r.n_errors;
    return VPU_OK;
}

/* What is written, and what is looked for first: problems with files and with
 * the command line come before the work, for a run of minutes must not end in
 * "permission denied". */
static vpu_status prepare(session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    if (s->o.output)
        st = file_mkdirs(s->o.output, err);
    if (!st)
        st = open_trace(s, err);
    if (!st)
        st = open_kanata(s, err);
    if (!st && s->o.folded)
        st = file_out_open(&s->folded, s->o.folded, err);
    if (!st && s->o.debug.stop)
        st = check_item(s, err);
    if (!st && s->o.check)
        st = check_first(s, err);
    return st;
}

/* Of several runs the last one is in the trace and in the pipeline. Backends
 * that cannot begin a trace between runs have had it from their opening on. */
static void observe_last(session *s)
{
    const backend_ops *ops = s->b.ops;

    if (ops->trace)
        ops->trace->to(s->b.self, s->trace);
    s->observer = kanata_observer(s->kanata);
    if (ops->observe && s->observer)
        ops->observe->observers(s->b.self, &s->observer, 1);
}

static vpu_status run_repeated(session *s, vpu_error *err)
{
    uint32_t n = s->t.graph->n_launches;
    vpu_status st = VPU_OK;

    if (s->b.ops->observe)
        s->b.ops->observe->profile(s->b.self,
                                   s->o.profile ? "--profile" : "--folded",
                                   s->o.profile || s->o.folded);
    s->results = arena_array(s->a, backend_result, s->o.repeat * n + 1);
    for (uint32_t i = 0; i < s->o.repeat && !st; i++) {
        host_does(s, "transfer");
        st = target_fill_all(&s->o.target, &s->t, &s->b, s->a, err);
        host_does(s, "run");
        if (i + 1 == s->o.repeat)
            observe_last(s);
        if (!st)
            st = backend_run(&s->b, 0, n, s->results + i * n, err);
    }
    return st;
}

/* Whatever is written beside the report, but for the trace. */
static vpu_status finish(session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    if (s->o.output) {
        host_does(s, "transfer");
        st = save(s, err);
    }
    host_does(s, NULL);
    if (!st && s->folded.stream)
        st = write_folded(s, err);
    if (!st && s->kanata)
        st = file_out_commit(&s->kanata_file, err);
    return st;
}

/* When the backend is closed: a session with a stick ends with packets, too. */
static vpu_status commit_trace(session *s, vpu_error *err)
{
    trc_writer *w = s->trace;

    if (!w)
        return VPU_OK;
    trace_host(s);
    s->trace = NULL;
    return trc_writer_commit(w, err);
}

/* The user asks for tuned sizes: that there are none is worth a note. */
static vpu_status take_tuned(session *s, const backend_config *cfg,
                             vpu_error *err)
{
    tune_file file;
    uint32_t n;
    vpu_status st;

    if (!s->o.tuned)
        return VPU_OK;
    st = tune_file_read(s->o.tuned, s->a, &file, err);
    if (!st)
        st = tune_apply(&file, s->o.ops, cfg, s->t.graph, s->a, &n, err);
    if (!st && !n)
        log_note(&s->log,
                 "--tuned %s: none of its sizes is for this layer, shape and "
                 "machine; vpu tune --file %s finds one",
                 s->o.tuned, s->o.tuned);
    return st;
}

static vpu_status run(session *s, vpu_error *err)
{
    vpu_status st = target_bind(&s->o.target, s->a, &s->log, &s->t, err);
    backend_config cfg = target_backend(&s->o.target, &s->t);
    graph_sharing sharing;

    cfg.device = s->o.device;
    cfg.debug = s->o.gdb ? &s->o.debug : NULL;
    cfg.log = &s->log;
    cfg.print = print_text;
    cfg.print_user = s;
    if (!st)
        st = target_check_inputs(&s->o.target, &s->t, s->a, err);
    if (!st)
        st = graph_share(s->t.graph, s->a, &sharing, err);
    if (!st)
        st = take_tuned(s, &cfg, err);
    if (!st)
        st = prepare(s, err);
    cfg.trace = s->o.ops->trace ? NULL : s->trace;
    host_does(s, "compile");
    redirect(s);
    if (!st)
        st = backend_open(s->o.ops, &cfg, s->t.graph, &s->b, err);
    if (!st)
        st = run_repeated(s, err);
    if (!st)
        st = finish(s, err);
    if (!st)
        make_report(s);
    backend_close(&s->b);
    restore(s);
    if (!st)
        st = commit_trace(s, err);
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
        s.log = cli_log(s.o.target.quiet);
        if (run(&s, &err)) {
            rc = cli_fail(&err);
            target_explain_output(&s.o.target, &s.t,
                                  err.code == VPU_ERR_FAULT ? err.msg : "",
                                  &s.log);
        } else if (s.findings) {
            rc = CLI_DIFFERS;
        }
    }
    fflush(stdout); /* the report, before the window is closed */
    if (live_end(&s.live, rc) && !rc)
        rc = CLI_ERROR;
    trc_writer_abandon(s.trace);
    file_out_abandon(&s.folded);
    file_out_abandon(&s.kanata_file);
    kanata_free(s.kanata);
    str_free(&s.report);
    arena_destroy(s.a);
    return rc;
}
