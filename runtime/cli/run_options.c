/* The rows of vpu run's options, and what excludes each other. */
#include "runtime/cli/run_options.h"

#include <string.h>

#include "runtime/cli/gdb.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target_graph.h"

static bool take_profile(void *fields, const char *value, arena *a)
{
    run_options *o = fields;

    (void)a;
    o->profile = 20;
    return !value || options_count(value, &o->profile);
}

static bool take_check(void *fields, const char *value, arena *a)
{
    run_options *o = fields;

    (void)a;
    o->check = true;
    if (value)
        o->checkers = value;
    return !value || !vpu_checkers_check(value, NULL);
}

static bool take_break_at(void *fields, const char *value, arena *a)
{
    (void)a;
    return gdb_parse_break_at(value, &((run_options *)fields)->debug);
}

#define NO_GROUP UINT64_MAX

#define AT(field) offsetof(run_options, field)

static const cli_option own_rows[] = {
    {.kind = OPTION_HEADING, .help = "What comes out:"},
    {"output", "DIR", OPTION_TEXT, AT(output),
     .help = "write out0.npy \u2026 and report.json to DIR"},
    {"json", NULL, OPTION_FLAG, AT(json),
     .help = "the report as JSON, on standard output"},
    {"report", "text|json", OPTION_OTHER, AT(json), .take = cli_take_report},
    {"trace", "FILE", OPTION_TEXT, AT(trace), .needs = BACKEND_TRACE,
     .help = "timeline for ui.perfetto.dev"},
    {"trace-json", "FILE", OPTION_TEXT, AT(trace_json), .needs = BACKEND_TRACE,
     .help = "the same for chrome://tracing"},
    {"vcd", "FILE", OPTION_TEXT, AT(vcd), .needs = BACKEND_OBSERVE,
     .help = "the same as value change dump, for GTKWave: busy and state of "
             "every SHAVE and DMA channel"},
    {"trace-level", "summary|groups|full", OPTION_CHOICE, AT(trace_level),
     .needs = BACKEND_OBSERVE,
     .help = "what traces hold: at most 256 merged slices per track; a slice "
             "per work-group phase and transfer; and in it what each cycle "
             "went to (default)"},
    {"trace-bundles", "N", OPTION_NUMBER, AT(trace_bundles),
     .needs = BACKEND_OBSERVE,
     .help = "and the bundles of work-group N, in every stage that has it, "
             "for vpu view; implies --engine interpreted"},
    {"view", NULL, OPTION_FLAG, AT(view), .needs = BACKEND_OBSERVE,
     .help = "the timeline in a window while it runs (vpu view); ends when "
             "the window is closed"},
    {"trace-host", NULL, OPTION_FLAG, AT(trace_host), .needs = BACKEND_OBSERVE,
     .help = "and a track of what the host did (compile, transfer, run) in "
             "wall-clock time: such a trace is never the same twice"},
    {"profile", "[=N]", OPTION_OTHER, .take = take_profile,
     .needs = BACKEND_OBSERVE,
     .help = "after the report, the N (default 20) source lines with most "
             "cycles; all of them in the JSON report"},
    {"folded", "FILE", OPTION_TEXT, AT(folded), .needs = BACKEND_OBSERVE,
     .help = "the same as folded stacks, for flamegraph.pl, inferno and "
             "speedscope. Both count on the interpreter: --engine interpreted "
             "is implied"},
    {"kanata", "FILE", OPTION_TEXT, AT(kanata), .needs = BACKEND_OBSERVE,
     .help = "one work-group in the pipeline, for the viewer Konata; implies "
             "--engine interpreted"},
    {"kanata-group", "N", OPTION_NUMBER, AT(kanata_group),
     .needs = BACKEND_OBSERVE,
     .help = "which one, in every stage that has it (default 0)"},
    {"kanata-bundles", "N", OPTION_COUNT, AT(kanata_bundles),
     .needs = BACKEND_OBSERVE,
     .help = "at most so many bundles (default 10000), of --trace-bundles, "
             "too"},
    {"roofline", "FILE", OPTION_NAME, AT(roofline), .needs = BACKEND_OBSERVE,
     .help = "a picture, FILE.svg or FILE.png: each stage under the roof of "
             "the SHAVEs' issue and of DDR's bandwidth"},
    {"no-advice", NULL, OPTION_FLAG, AT(no_advice), .needs = BACKEND_MACHINE,
     .help = "leave out, at the report's end, what would make the layer "
             "faster (docs/advice.md)"},
    {"check", "[=LIST]", OPTION_OTHER, .take = take_check,
     .offer = offers_checks, .needs = BACKEND_ORDER,
     .help = "first look for what the kernels do wrong, as vpu check does; "
             "findings go to standard error, exit status 1"},
    {.kind = OPTION_HEADING,
     .help = "Under the debugger gdb (docs/debugging.md):"},
    {"gdb", NULL, OPTION_FLAG, AT(gdb), .needs = BACKEND_OBSERVE,
     .help = "kernels as code for a debugger: by source line, with their "
             "variables. Starts gdb on this run, unless it runs in one "
             "already. Slow; one thread, no cycles"},
    {"break-at", "gid=X,Y,Z", OPTION_OTHER, .take = take_break_at,
     .needs = BACKEND_OBSERVE,
     .help = "with --gdb: stop where the work-item with this global id "
             "begins; Y and Z may be left out"},
    {.kind = OPTION_HEADING, .help = "What kernels print:"},
    {"printf-prefix", NULL, OPTION_FLAG, AT(target.how.print_prefix),
     .needs = BACKEND_MACHINE,
     .help = "in front of each line of printf: [group X,Y,Z item X,Y,Z], the "
             "item's local id. Output is in the order of the work-groups, "
             "whatever runs them"},
    {.kind = OPTION_HEADING, .help = "How it runs:"},
    {"backend", "ID", OPTION_NAME, AT(backend), .offer = offers_devices,
     .help = "what runs it: sim (default), opencl, opencl:P:D, opencl:NAME, "
             "host:FILE.so, replay:FILE, npy:DIR, null, usb, usb:BUS-PORT, "
             "usb:unix:PATH, usb:tcp:ADDRESS:PORT (see vpu devices); options "
             "that only the simulator knows are refused then"},
    {"tuned", "FILE", OPTION_NAME, AT(tuned),
     .help = "take the local sizes that vpu tune has put into this file, where "
             "it has one for the launch, instead of the binding file's"},
    {"local", "[STAGE=]XxYxZ[,…]", OPTION_TEXT, AT(local),
     .help = "local sizes in place of the binding file's, of all kernels or of "
             "a stage; each divides the global size"},
    {"repeat", "N", OPTION_COUNT, AT(repeat), .most = VPU_MAX_REPEAT,
     .help = "run N times (at most 64): host_run_s in the JSON report is the "
             "median, and host_engine_s the part of that run in which its "
             "first thread ran no groups; the rest is of the last run"},
    {"executors", "N", OPTION_COUNT, AT(executors), .needs = BACKEND_MACHINE,
     .help = "tell, too, how N inferences at once do (a stick's default is 2), "
             "each in an executor with an engine and SHAVEs of its own"}};

static const cli_options own_options = CLI_OPTIONS(own_rows);

static const cli_table tables[] = {TARGET_LAYER(AT(target)),
                                   {&target_input_options, AT(target)},
                                   {&own_options, 0},
                                   TARGET_HOW(AT(target)),
                                   TARGET_STICK(AT(target))};

static int check_backend(run_options *o, const options_needs *needs, arena *a)
{
    const char *device;
    vpu_error err;

    if (backend_find(o->backend, &o->ops, &device, &err))
        return cli_usage(&cli_run, "--backend %s: %s", o->backend, err.msg);
    o->target.offered = backend_extras(o->ops);
    return cli_check_needs(
        &cli_run, needs, &o->ops, 1,
        arena_printf(a, "not with --backend %s", o->backend));
}

vpu_run_options run_options_words(const run_options *o)
{
    return (vpu_run_options){.struct_size = sizeof(vpu_run_options),
                             .trace = o->trace,
                             .trace_json = o->trace_json,
                             .vcd = o->vcd,
                             .profile = o->profile != 0,
                             .profile_lines = o->profile,
                             .folded = o->folded,
                             .kanata = o->kanata,
                             .kanata_group = o->kanata_group,
                             .kanata_bundles = o->kanata_bundles,
                             .trace_level = (uint32_t)o->trace_level + 1,
                             .trace_host = o->trace_host,
                             .output = o->output,
                             .repeat = o->repeat,
                             .executors = o->executors,
                             .advise = !o->no_advice,
                             .roofline = o->roofline,
                             .trace_bundles = o->trace_bundles != NO_GROUP,
                             .trace_bundles_group = o->trace_bundles,
                             .finalize = 1};
}

/* What looks into a run, and needs more than a plain one, is refused before any
 * work. --engine interpreted is implied. */
static int check_observers(run_options *o)
{
    vpu_run_options run = run_options_words(o);
    vpu_context_options context;
    str text = {0};
    vpu_error err;
    int rc = CLI_OK;

    if (!(backend_extras(o->ops) & BACKEND_OBSERVE))
        return CLI_OK;
    if ((o->profile || o->folded || o->kanata ||
         o->trace_bundles != NO_GROUP) &&
        !o->target.engine_given)
        o->target.how.engine = EXEC_INTERPRETED;
    if (o->view && !run.trace)
        run.trace = ""; /* a file of its own */
    context = target_words_of(&o->target, o->backend).context;
    if (vpu_run_options_check(&run, &context, &err)) {
        cli_spell(err.msg, &text);
        rc = cli_usage(&cli_run, "%s", str_text(&text));
        str_free(&text);
    }
    return rc;
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
                        : o->target.how.engine != EXEC_COMPILED
                            ? "--engine interpreted"
                            : NULL;

    if (!o->gdb)
        return o->debug.stop ? cli_usage(&cli_run, "--break-at needs --gdb")
                             : CLI_OK;
    if (other)
        return cli_usage(&cli_run, "--gdb and %s exclude each other", other);
    o->target.how.timing = EXEC_NO_TIMING;
    o->target.how.n_threads = 1;
    o->target.how.timeout_s = 0; /* a person thinks longer */
    o->target.how.max_cycles = 0;
    o->target.max_cycles_given = true;
    return CLI_OK;
}

int run_options_parse(int argc, char **argv, run_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int c;

    *o = (run_options){.backend = "sim",
                       .repeat = 1,
                       .kanata_bundles = 10000,
                       .trace_bundles = NO_GROUP,
                       .trace_level = VPU_TRACE_FULL - 1};
    target_init(&o->target);
    c = cli_parse(&cli_run, o, &line, a);
    c = c ? c : target_check(&o->target, &cli_run, line.words, line.n_words);
    c = c ? c : check_backend(o, &line.needs, a);
    c = c ? c : check_observers(o);
    return c ? c : check_gdb(o);
}

const cli_command cli_run = {
    .name = "run",
    .summary = "run a layer on the simulated VPU",
    .head =
        "usage: vpu run LAYER.xml [OPTIONS]\n\n"
        "Runs a custom layer on the simulated VPU: binding file and OpenCL C in,\n"
        "output tensors, a report and a timeline out.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n" STOP_HELP "\n"
        "Examples:\n"
        "  vpu run kernels/grn/layer.xml --layer GRN --shape in0=1x16x256x512 \\\n"
        "      --param bias=1.0 --input 0=random:1 --output out --trace out/t.pftrace\n"
        "  vpu run layer.xml --model net.xml --at norm1 --input 0=image.png:scale=255\n"
        "  vpu run layer.xml --shape in0=1x3x64x64:f32 --shape out0=1x3x64x64 \\\n"
        "      --shaves 7 --json\n",
    .main = cli_run_main};
