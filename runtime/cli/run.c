/* vpu run: a layer on the simulated VPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/check.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/gdb.h"
#include "runtime/report/kanata.h"
#include "runtime/cli/live.h"
#include "runtime/cli/other.h"
#include "runtime/report/profile.h"
#include "runtime/report/report.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"
#include "runtime/graph/io.h"
#include "base/clock.h"
#include "base/file.h"

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
    const char *backend, *output, *trace, *trace_json, *vcd, *folded, *kanata,
        *report;
    uint32_t repeat;
    uint32_t profile; /* lines in the table, 0 = none */
    uint64_t kanata_group;
    uint32_t kanata_bundles;
    trc_level trace_level;
    bool trace_host, view;
    bool check; /* before it runs */
    check_set checkers;
    bool gdb, printf_prefix;
    sim_debug debug; /* for gdb */
} run_options;

/* --- options
 * ------------------------------------------------------------------------- */

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
        return o->printf_prefix = true;
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

/* A stick's packets and stages have a timeline, too. */
static bool is_traced_only(const run_options *o, const char *backend)
{
    return (o->trace || o->trace_json) && strcmp(backend, "sim") &&
           strcmp(backend, "usb");
}

static bool on_sim(const run_options *o)
{
    return !strcmp(o->backend, "sim");
}

static int check_backend(const run_options *o)
{
    const backend_ops *ops;
    const char *device;
    vpu_error err;

    if (backend_find(o->backend, &ops, &device, &err))
        return cli_usage(&cli_run, "--backend %s: %s", o->backend, err.msg);
    if (o->t.usb_only && strcmp(ops->name, "usb"))
        return cli_usage(&cli_run, "%s is about sticks: not with --backend %s",
                         o->t.usb_only, o->backend);
    if (strcmp(ops->name, "sim") && target_sim_only(&o->t, ops->name))
        return cli_usage(&cli_run,
                         "%s is about the simulator: not with --backend %s",
                         o->t.sim_only, o->backend);
    if (is_traced_only(o, ops->name))
        return cli_usage(&cli_run,
                         "%s is about the simulator and sticks: not with "
                         "--backend %s",
                         o->trace ? "--trace" : "--trace-json", o->backend);
    return CLI_OK;
}

/* What looks into a run needs the interpreter, and time as flows. */
static int check_observers(run_options *o)
{
    const char *asker = o->profile  ? "--profile"
                        : o->folded ? "--folded"
                        : o->kanata ? "--kanata"
                                    : NULL;

    if (asker && o->t.engine_given && o->t.engine == EXEC_COMPILED)
        return cli_usage(&cli_run,
                         "%s needs the interpreter: not with --engine compiled",
                         asker);
    if (asker)
        o->t.engine = EXEC_INTERPRETED;
    else if (o->trace || o->trace_json || o->vcd || o->view)
        asker = "a trace";
    if (asker && o->t.timing == EXEC_NO_TIMING)
        return cli_usage(&cli_run, "%s needs time: not with --timing none",
                         asker);
    if ((o->profile || o->folded) && o->t.timing == EXEC_TRANSACTIONS)
        return cli_usage(&cli_run, "%s works with --timing flow only", asker);
    return CLI_OK;
}

/* Code for a debugger has no SHAVE program, so no time and none of what looks
 * at time. */
static int check_gdb(run_options *o)
{
    const char *other = o->profile                     ? "--profile"
                        : o->folded                    ? "--folded"
                        : o->kanata                    ? "--kanata"
                        : o->trace                     ? "--trace"
                        : o->trace_json                ? "--trace-json"
                        : o->vcd                       ? "--vcd"
                        : o->view                      ? "--view"
                        : o->repeat > 1                ? "--repeat"
                        : o->t.engine != EXEC_COMPILED ? "--engine interpreted"
                                                       : NULL;

    if (!o->gdb)
        return o->debug.stop ? cli_usage(&cli_run, "--break-at needs --gdb")
                             : CLI_OK;
    if (other)
        return cli_usage(&cli_run, "--gdb and %s exclude each other", other);
    o->t.timing = EXEC_NO_TIMING;
    o->t.threads = 1;
    o->t.timeout_s = 0; /* a person thinks longer */
    o->t.max_cycles = 0;
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

/* --- the steps
 * ------------------------------------------------------------------------ */

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
    backend_sim *sim;
    trc_writer *trace;
    file_out folded, kanata_file;
    kanata *kanata;
    host_work host;
    live live;
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

static vpu_status fill_inputs(session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < s->t.g->n_buffers && !st; i++) {
        const graph_buffer *b = &s->t.g->buffers[i];

        if (b->role == GRAPH_INPUT)
            st = target_fill(&s->o.t, b, s->a, backend_sim_buffer(s->sim, i),
                             err);
    }
    return st ? st : target_check_inputs(&s->o.t, &s->t, s->a, err);
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

static vpu_status write_folded(session *s, vpu_error *err)
{
    report_source r = {s->t.g, s->sim, &s->t.desc, s->o.t.timing};
    str out = {0};

    cli_profile_folded(&r, &out);
    fwrite(str_text(&out), 1, out.n, s->folded.f);
    str_free(&out);
    return file_out_commit(&s->folded, err);
}

static vpu_status save(session *s, vpu_error *err)
{
    void **data = arena_array(s->a, void *, s->t.g->n_buffers + 1);
    report_source r = {s->t.g, s->sim, &s->t.desc, s->o.t.timing};
    str json = {0};
    vpu_status st;

    for (uint32_t i = 0; i < s->t.g->n_buffers; i++)
        data[i] = backend_sim_buffer(s->sim, i);
    st = graph_output_save(s->o.output, s->t.g, data, err);
    report_json(&r, &json);
    if (!st)
        st = file_write(file_join(s->a, s->o.output, "report.json"), json.data,
                        json.n, err);
    str_free(&json);
    return st;
}

static void print_report(session *s)
{
    report_source r = {s->t.g, s->sim, &s->t.desc, s->o.t.timing};
    str out = {0};

    if (!strcmp(s->o.report, "json"))
        report_json(&r, &out);
    else
        report_text(&r, &out);
    if (s->o.profile && strcmp(s->o.report, "json"))
        cli_profile_text(&r, s->o.profile, &out);
    cli_progress_done();
    cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
}

/* What kernels print goes where a person sees it, but not into the JSON. */
static void print_text(void *user, const char *text, size_t n)
{
    const session *s = user;

    cli_progress_done();
    cli_put(strcmp(s->o.report, "json") ? stdout : stderr, text, n);
}

/* On another backend than the simulator. */
static vpu_status run_other(session *s, vpu_error *err)
{
    const run_options *o = &s->o;
    other_run r = {.id = o->backend,
                   .repeat = o->repeat,
                   .output = o->output,
                   .json = !strcmp(o->report, "json")};
    vpu_status st = target_bind(&o->t, s->a, &s->log, &s->t, err);
    backend_config cfg = target_backend(&o->t, &s->t, NULL);
    const char **inputs;

    cfg.log = &s->log;
    cfg.print = print_text;
    cfg.print_user = s;
    if (st)
        return st;
    inputs = arena_array(s->a, const char *, s->t.g->n_buffers + 1);
    for (uint32_t i = 0; i < s->t.g->n_buffers && !st; i++)
        if (s->t.g->buffers[i].role == GRAPH_INPUT)
            st =
                target_input(&o->t, &s->t.g->buffers[i], s->a, &inputs[i], err);
    if (!st)
        st = target_check_inputs(&o->t, &s->t, s->a, err);
    if (!st && o->output)
        st = file_mkdirs(o->output, err);
    r.g = s->t.g;
    r.inputs = inputs;
    if (!st)
        st = open_trace(s, err);
    s->o.t.usb.trace = s->trace;
    if (!st)
        st = other_run_all(&r, &cfg, err);
    if (!st && s->trace) {
        trc_writer *w = s->trace;

        s->trace = NULL;
        st = trc_writer_commit(w, err);
    }
    return st;
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

static vpu_status run(session *s, vpu_error *err)
{
    vpu_status st = target_bind(&s->o.t, s->a, &s->log, &s->t, err);
    backend_sim_config cfg = target_sim(&s->o.t, &s->t);

    cfg.profile = s->o.profile || s->o.folded;
    cfg.debug = s->o.gdb ? &s->o.debug : NULL;
    cfg.log = &s->log;
    cfg.print = print_text;
    cfg.print_user = s;
    cfg.print_prefix = s->o.printf_prefix;
    /* The output folder before the work: a run of minutes must not end in
     * "permission denied". */
    if (!st && s->o.output)
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
    host_does(s, "compile");
    if (!st)
        st = backend_sim_open(&cfg, s->t.g, &s->sim, err);
    for (uint32_t i = 0; i < s->o.repeat && !st; i++) {
        host_does(s, "transfer");
        st = fill_inputs(s, err);
        host_does(s, "run");
        /* One run in the trace, the last. */
        cfg.trace = i + 1 == s->o.repeat ? s->trace : NULL;
        cfg.group_watch = i + 1 == s->o.repeat ? kanata_watch(s->kanata) : NULL;
        if (!st)
            st = backend_sim_run(s->sim, err);
    }
    if (!st && s->o.output) {
        host_does(s, "transfer");
        st = save(s, err);
    }
    host_does(s, NULL);
    if (!st && s->trace) {
        trc_writer *w = s->trace;

        trace_host(s);
        s->trace = NULL;
        st = trc_writer_commit(w, err);
    }
    if (!st && s->folded.f)
        st = write_folded(s, err);
    if (!st && s->kanata)
        st = file_out_commit(&s->kanata_file, err);
    if (!st)
        print_report(s);
    return st;
}

static int run_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc && s.o.gdb && !gdb_attached()) {
        gdb_become(argc, argv, &err);
        rc = cli_fail(&err);
    } else if (!rc) {
        s.log = cli_log(s.o.t.quiet);
        if (on_sim(&s.o) ? run(&s, &err) : run_other(&s, &err))
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
    backend_sim_close(s.sim);
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_run = {"run", "run a layer on the simulated VPU", help,
                             run_main};
