/* vpu run: a layer on the simulated VPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "runtime/cli/check.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/gdb.h"
#include "runtime/cli/live.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"
#include "runtime/graph/io.h"
#include "runtime/report/kanata.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"

static const char help[] =
    "usage: vpu run LAYER.xml [OPTIONS]\n\n"
    "Runs a custom layer on the simulated VPU: binding file and OpenCL C in,\n"
    "output tensors, a report and a timeline out.\n\n" TARGET_HELP_LAYER
    "What comes out:\n"
    "  --output DIR            write out0.npy … and report.json to DIR\n"
    "  --report text|json      on standard output (default text)\n"
    "  --trace FILE            timeline for ui.perfetto.dev\n"
    "  --trace-json FILE       the same for chrome://tracing\n"
    "  --vcd FILE              the same as value change dump, for GTKWave: "
    "busy and\n"
    "                          state of every SHAVE and DMA channel\n"
    "  --trace-level summary|groups|full\n"
    "                          what traces hold: at most 256 merged slices "
    "per\n"
    "                          track; a slice per work-group phase and "
    "transfer;\n"
    "                          and in it what each cycle went to (default)\n"
    "  --view                  the timeline in a window while it runs (vpu "
    "view); ends\n"
    "                          when the window is closed\n"
    "  --trace-host            and a track of what the host did (compile, "
    "transfer,\n"
    "                          run) in wall-clock time: such a trace is never "
    "the\n"
    "                          same twice\n"
    "  --profile[=N]           after the report, the N (default 20) source "
    "lines\n"
    "                          with most cycles; all of them in the JSON "
    "report\n"
    "  --folded FILE           the same as folded stacks, for flamegraph.pl,\n"
    "                          inferno and speedscope. Both count on the\n"
    "                          interpreter: --engine interpreted is implied\n"
    "  --kanata FILE           one work-group in the pipeline, for the viewer "
    "Konata;\n"
    "                          implies --engine interpreted\n"
    "  --kanata-group N        which one, in every stage that has it (default "
    "0)\n"
    "  --kanata-bundles N      at most so many bundles (default 10000)\n"
    "  --check[=LIST]          first look for what the kernels do wrong, as "
    "vpu check\n"
    "                          does; findings go to standard error, exit "
    "status 1\n"
    "Under the debugger gdb (docs/debugging.md):\n"
    "  --gdb                   kernels as code for a debugger: by source line, "
    "with\n"
    "                          their variables. Starts gdb on this run, unless "
    "it\n"
    "                          runs in one already. Slow; one thread, no "
    "cycles\n"
    "  --break-at gid=X,Y,Z    with --gdb: stop where the work-item with this "
    "global\n"
    "                          id begins; Y and Z may be left out\n"
    "What kernels print:\n"
    "  --printf-prefix         in front of each line of printf: [group X,Y,Z "
    "item\n"
    "                          X,Y,Z], the item's local id. Output is in the "
    "order of\n"
    "                          the work-groups, whatever runs them\n"
    "How it runs:\n"
    "  --backend ID            what runs it: sim (default), opencl, "
    "opencl:P:D,\n"
    "                          opencl:NAME, host:FILE.so, replay:FILE, null, "
    "usb,\n"
    "                          usb:BUS-PORT, usb:unix:PATH, "
    "usb:tcp:ADDRESS:PORT\n"
    "                          (see vpu devices); options that only the "
    "simulator\n"
    "                          knows are refused then\n" TARGET_HELP_RUN
    "  --repeat N              run N times (at most 64): host_run_s in the "
    "JSON\n"
    "                          report is the median; the rest is of the last "
    "run\n"
    "\n" STOP_HELP "\n"
    "Examples:\n"
    "  vpu run kernels/grn/layer.xml --layer GRN --shape in0=1x16x256x512 \\\n"
    "      --param bias=1.0 --input 0=random:1 --output out --trace "
    "out/t.pftrace\n"
    "  vpu run layer.xml --model net.xml --at norm1 --input 0=image.npy\n"
    "  vpu run layer.xml --shape in0=1x3x64x64:f32 --shape out0=1x3x64x64 \\\n"
    "      --shaves 7 --report json\n";

typedef struct {
    target_options t;
    const char *backend; /* id */
    const backend_ops *ops;
    const char *device; /* of the id */
    const char *output, *trace, *trace_json, *vcd, *folded, *kanata, *report;
    uint32_t repeat;
    uint32_t profile; /* lines in the table, 0 = none */
    uint64_t kanata_group;
    uint32_t kanata_bundles;
    trc_level trace_level;
    bool trace_host, view;
    bool check; /* before it runs */
    check_set checkers;
    bool gdb;
    sim_debug debug; /* for gdb */
} run_options;

/* --- options ------------------------------------------------------------- */

static bool parse_level(const char *text, trc_level *out)
{
    static const char *const names[] = {[TRC_SUMMARY] = "summary",
                                        [TRC_GROUPS] = "groups",
                                        [TRC_FULL] = "full"};

    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(text, names[k])) {
            *out = (trc_level)k;
            return true;
        }
    return false;
}

enum {
    OPT_BACKEND = TARGET_OWN,
    OPT_OUTPUT,
    OPT_TRACE,
    OPT_TRACE_JSON,
    OPT_VCD,
    OPT_TRACE_LEVEL,
    OPT_TRACE_HOST,
    OPT_VIEW,
    OPT_PROFILE,
    OPT_FOLDED,
    OPT_KANATA,
    OPT_KANATA_GROUP,
    OPT_KANATA_BUNDLES,
    OPT_CHECK,
    OPT_GDB,
    OPT_BREAK_AT,
    OPT_PRINTF_PREFIX,
    OPT_REPORT,
    OPT_REPEAT,
};

static const struct option long_options[] = {
    TARGET_LONG,
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"trace-json", required_argument, NULL, OPT_TRACE_JSON},
    {"vcd", required_argument, NULL, OPT_VCD},
    {"trace-level", required_argument, NULL, OPT_TRACE_LEVEL},
    {"view", no_argument, NULL, OPT_VIEW},
    {"trace-host", no_argument, NULL, OPT_TRACE_HOST},
    {"profile", optional_argument, NULL, OPT_PROFILE},
    {"folded", required_argument, NULL, OPT_FOLDED},
    {"kanata", required_argument, NULL, OPT_KANATA},
    {"kanata-group", required_argument, NULL, OPT_KANATA_GROUP},
    {"kanata-bundles", required_argument, NULL, OPT_KANATA_BUNDLES},
    {"check", optional_argument, NULL, OPT_CHECK},
    {"gdb", no_argument, NULL, OPT_GDB},
    {"break-at", required_argument, NULL, OPT_BREAK_AT},
    {"printf-prefix", no_argument, NULL, OPT_PRINTF_PREFIX},
    {"report", required_argument, NULL, OPT_REPORT},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {NULL, 0, NULL, 0}};

/* False: the value is not one the option takes. */
static bool apply(run_options *o, int c, arena *a)
{
    unsigned long long n;

    switch (c) {
    case OPT_BACKEND:
        o->backend = optarg;
        return *optarg;
    case OPT_OUTPUT:
        o->output = optarg;
        return true;
    case OPT_TRACE:
        o->trace = optarg;
        return true;
    case OPT_TRACE_JSON:
        o->trace_json = optarg;
        return true;
    case OPT_VCD:
        o->vcd = optarg;
        return true;
    case OPT_TRACE_LEVEL:
        return parse_level(optarg, &o->trace_level);
    case OPT_VIEW:
        o->view = true;
        return true;
    case OPT_TRACE_HOST:
        o->trace_host = true;
        return true;
    case OPT_PROFILE:
        o->profile = 20;
        return !optarg || target_count(optarg, &o->profile);
    case OPT_FOLDED:
        o->folded = optarg;
        return true;
    case OPT_KANATA:
        o->kanata = optarg;
        return true;
    case OPT_KANATA_GROUP:
        if (!str_to_u64(optarg, &n))
            return false;
        o->kanata_group = n;
        return true;
    case OPT_KANATA_BUNDLES:
        return target_count(optarg, &o->kanata_bundles);
    case OPT_CHECK:
        o->check = true;
        return !optarg || !check_set_parse(optarg, &o->checkers, NULL);
    case OPT_GDB:
        return o->gdb = true;
    case OPT_BREAK_AT:
        return gdb_parse_break_at(optarg, &o->debug);
    case OPT_PRINTF_PREFIX:
        return o->t.how.print_prefix = true;
    case OPT_REPORT:
        o->report = optarg;
        return !strcmp(optarg, "text") || !strcmp(optarg, "json");
    case OPT_REPEAT:
        return target_count(optarg, &o->repeat) && o->repeat <= 64;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

/* Options about the simulated machine and its insides. */
static bool is_sim_only(int c)
{
    return c >= OPT_VCD && c <= OPT_PRINTF_PREFIX;
}

static int check_backend(run_options *o)
{
    uint32_t extras;
    vpu_error err;

    if (backend_find(o->backend, &o->ops, &o->device, &err))
        return cli_usage(&cli_run, "--backend %s: %s", o->backend, err.msg);
    extras = backend_extras(o->ops);
    if (o->t.stick_only && !(extras & BACKEND_STICK))
        return cli_usage(&cli_run, "%s is about sticks: not with --backend %s",
                         o->t.stick_only, o->backend);
    if (target_sim_only(&o->t, o->ops))
        return cli_usage(&cli_run,
                         "%s is about the simulator: not with --backend %s",
                         o->t.sim_only, o->backend);
    if ((o->trace || o->trace_json) && !(extras & BACKEND_TRACE))
        return cli_usage(&cli_run,
                         "%s is about the simulator and sticks: not with "
                         "--backend %s",
                         o->trace ? "--trace" : "--trace-json", o->backend);
    return CLI_OK;
}

/* What looks into a run, and needs more than a plain one: refused before any
 * work, in the words of exec_run. --engine interpreted is implied. */
static int check_observers(run_options *o)
{
    const struct {
        bool given;
        const char *name;
        uint32_t needs;
    } lookers[] = {{o->profile, "--profile", EXEC_PROFILE_NEEDS},
                   {o->folded != NULL, "--folded", EXEC_PROFILE_NEEDS},
                   {o->kanata != NULL, "--kanata", KANATA_NEEDS},
                   {o->trace || o->trace_json || o->vcd || o->view, "a trace",
                    EXEC_TRACE_NEEDS}};
    vpu_error err;

    if (!(backend_extras(o->ops) & BACKEND_OBSERVE))
        return CLI_OK;
    for (size_t i = 0; i < sizeof lookers / sizeof *lookers; i++) {
        if (!lookers[i].given)
            continue;
        if (lookers[i].needs & EXEC_NEED_PROGRAM && !o->t.engine_given)
            o->t.how.engine = EXEC_INTERPRETED;
        if (exec_meets(lookers[i].name, lookers[i].needs, &o->t.how, NULL,
                       &err))
            return cli_usage(&cli_run, "%s", err.msg);
    }
    return CLI_OK;
}

/* Code for a debugger has no SHAVE program, so no time and none of what looks
 * at time. */
static int check_gdb(run_options *o)
{
    const char *other = o->profile      ? "--profile"
                        : o->folded     ? "--folded"
                        : o->kanata     ? "--kanata"
                        : o->trace      ? "--trace"
                        : o->trace_json ? "--trace-json"
                        : o->vcd        ? "--vcd"
                        : o->view       ? "--view"
                        : o->repeat > 1 ? "--repeat"
                        : o->t.how.engine != EXEC_COMPILED
                            ? "--engine interpreted"
                            : NULL;

    if (!o->gdb)
        return o->debug.stop ? cli_usage(&cli_run, "--break-at needs --gdb")
                             : CLI_OK;
    if (other)
        return cli_usage(&cli_run, "--gdb and %s exclude each other", other);
    o->t.how.timing = EXEC_NO_TIMING;
    o->t.how.n_threads = 1;
    o->t.how.timeout_s = 0; /* a person thinks longer */
    o->t.how.max_cycles = 0;
    o->t.max_cycles_given = true;
    return CLI_OK;
}

static int parse(int argc, char **argv, run_options *o, arena *a)
{
    int c, which = 0;

    *o = (run_options){.report = "text",
                       .backend = "sim",
                       .repeat = 1,
                       .kanata_bundles = 10000,
                       .trace_level = TRC_FULL,
                       .checkers = check_default()};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_run, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_run, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
        if (is_sim_only(c))
            o->t.sim_only = arena_printf(a, "--%s", long_options[which].name);
    }
    c = target_check(&o->t, &cli_run, argc, argv);
    c = c ? c : check_backend(o);
    c = c ? c : check_observers(o);
    return c ? c : check_gdb(o);
}

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
    for (uint32_t i = 0; i < s->t.g->n_launches; i++) {
        const graph_launch *l = &s->t.g->launches[i];
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
        s->kanata = kanata_create(s->kanata_file.f, s->o.kanata_group,
                                  s->o.kanata_bundles);
    return st;
}

static report_source source_of(const session *s)
{
    return (report_source){.g = s->t.g,
                           .run = &s->b,
                           .desc = &s->t.desc,
                           .timing = s->o.t.how.timing,
                           .results = s->results,
                           .repeat = s->o.repeat};
}

static vpu_status write_folded(session *s, vpu_error *err)
{
    report_source r = source_of(s);
    str out = {0};

    cli_profile_folded(&r, &out);
    fwrite(str_text(&out), 1, out.n, s->folded.f);
    str_free(&out);
    return file_out_commit(&s->folded, err);
}

/* The contents of the outputs, by buffer; in place where that can be. */
static vpu_status read_outputs(session *s, void **data, vpu_error *err)
{
    const graph *g = s->t.g;
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
    void **data = arena_array(s->a, void *, s->t.g->n_buffers + 1);
    report_source r = source_of(s);
    str json = {0};
    vpu_status st = read_outputs(s, data, err);

    if (!st)
        st = graph_output_save(s->o.output, s->t.g, data, err);
    report_json(&r, &json);
    if (!st)
        st = file_write(file_join(s->a, s->o.output, "report.json"), json.data,
                        json.n, err);
    str_free(&json);
    return st;
}

static bool wants_json(const session *s)
{
    return !strcmp(s->o.report, "json");
}

static void make_report(session *s)
{
    report_source r = source_of(s);

    if (wants_json(s))
        report_json(&r, &s->report);
    else
        report_text(&r, &s->report);
    if (s->o.profile && !wants_json(s))
        cli_profile_text(&r, s->o.profile, &s->report);
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

    for (uint32_t i = 0; i < s->t.g->n_launches; i++) {
        const graph_launch *l = &s->t.g->launches[i];

        if (!l->text && at[0] < l->global[0] && at[1] < l->global[1] &&
            at[2] < l->global[2])
            return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "--break-at gid=%u,%u,%u: no kernel of the run has this "
                   "work-item",
                   at[0], at[1], at[2]);
}

/* As vpu check. */
static vpu_status check_first(session *s, vpu_error *err)
{
    check_layer_config cfg = {.enabled = s->o.checkers, .max_findings = 100};
    check_report r;
    str out = {0};
    vpu_status st =
        cli_check_layer(&s->o.t, &s->t, &cfg, &s->log, s->a, &r, err);

    if (st)
        return st;
    check_print_text(&r, s->t.g, s->a, &out);
    cli_progress_done();
    cli_put_shown(stderr, str_text(&out), out.n);
    str_free(&out);
    s->findings = r.n;
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
    uint32_t n = s->t.g->n_launches;
    vpu_status st = VPU_OK;

    if (s->b.ops->observe)
        s->b.ops->observe->profile(s->b.self,
                                   s->o.profile ? "--profile" : "--folded",
                                   s->o.profile || s->o.folded);
    s->results = arena_array(s->a, backend_result, s->o.repeat * n + 1);
    for (uint32_t i = 0; i < s->o.repeat && !st; i++) {
        host_does(s, "transfer");
        st = target_fill_all(&s->o.t, &s->t, &s->b, s->a, err);
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
    if (!st && s->folded.f)
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

static vpu_status run(session *s, vpu_error *err)
{
    vpu_status st = target_bind(&s->o.t, s->a, &s->log, &s->t, err);
    backend_config cfg = target_backend(&s->o.t, &s->t);

    cfg.device = s->o.device;
    cfg.debug = s->o.gdb ? &s->o.debug : NULL;
    cfg.log = &s->log;
    cfg.print = print_text;
    cfg.print_user = s;
    if (!st)
        st = target_check_inputs(&s->o.t, &s->t, s->a, err);
    if (!st)
        st = prepare(s, err);
    cfg.trace = s->o.ops->trace ? NULL : s->trace;
    host_does(s, "compile");
    redirect(s);
    if (!st)
        st = backend_open(s->o.ops, &cfg, s->t.g, &s->b, err);
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

static int run_main(int argc, char **argv)
{
    session s = {.a = arena_create(0), .kept_stdout = -1};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc && s.o.gdb && !gdb_attached()) {
        gdb_become(argc, argv, &err);
        rc = cli_fail(&err);
    } else if (!rc) {
        s.log = cli_log(s.o.t.quiet);
        if (run(&s, &err))
            rc = cli_fail(&err);
        else if (s.findings)
            rc = CLI_DIFFERS;
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

const cli_command cli_run = {"run", "run a layer on the simulated VPU", help,
                             run_main};
