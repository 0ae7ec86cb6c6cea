/* vpu run: a layer on the simulated VPU. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend/sim.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/kanata.h"
#include "runtime/cli/other.h"
#include "runtime/cli/profile.h"
#include "runtime/cli/report.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/io.h"
#include "sim/base/file.h"

static const char help[] =
    "usage: vpu run LAYER.xml [OPTIONS]\n\n"
    "Runs a custom layer on the simulated VPU: binding file and OpenCL C in,\n"
    "output tensors, a report and a timeline out.\n\n"
    "Which layer, with what:\n"
    "  --layer NAME            the CustomLayer, when the file binds several\n"
    "  --model MODEL.xml       take shapes, parameters and weights from an\n"
    "                          OpenVINO IR; --at NAME picks the layer, else "
    "all\n"
    "                          layers of bound types run in a row, with inputs "
    "0…\n"
    "                          and outputs 0… in the order of the document\n"
    "  --shape in0=1x24x128x512[:f16]\n"
    "                          shape of an input by hand, outermost first; "
    "out0=…\n"
    "                          where the output differs from input 0. Types: "
    "f16\n"
    "                          (default) f32 i32 u8 i8 i16 u16 i64\n"
    "  --param NAME=VALUE      a layer parameter\n"
    "  --blob NAME=FILE.npy    a blob for Data bindings, f16 or f32 (a model "
    "has its\n"
    "                          own)\n"
    "  --strict RELEASE        refuse what that release's compiler refuses, "
    "2019R3\n"
    "                          to 2022.3 (default: a note)\n"
    "  --input N=SPEC          input N: FILE.npy, zeros, ramp or random:SEED\n"
    "                          (default: random:N)\n"
    "  --source-dir DIR        look for .cl files there first\n"
    "  -D NAME[=VALUE], -I DIR for the OpenCL preprocessor\n"
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
    "How it runs:\n"
    "  --backend ID            what runs it: sim (default), opencl, "
    "opencl:P:D,\n"
    "                          opencl:NAME, null (see vpu devices); options "
    "that only\n"
    "                          the simulator knows are refused then\n"
    "  --shaves N              SHAVEs to use (default: all 16; the vendor's\n"
    "                          plugin gives a network 7)\n"
    "  --machine FILE          another machine description\n"
    "  --set KEY=VALUE         override one of its numbers (see vpu machine)\n"
    "  --order sequential|reverse|random:SEED\n"
    "                          order of the work-groups\n"
    "  --engine compiled|interpreted\n"
    "                          how work-groups run: as host code (default), "
    "or\n"
    "                          bundle by bundle from the SHAVE program; same\n"
    "                          results, same cycles, much slower\n"
    "  --timing flow|transaction|none\n"
    "                          how cycles are found: DDR bandwidth shared\n"
    "                          between flows (default), every line of DDR an\n"
    "                          event, or not at all\n"
    "  --threads N             host threads (default: all); results and "
    "cycles\n"
    "                          do not depend on it\n"
    "  --timeout SECONDS       stop a launch after this much host time\n"
    "                          (default 3600, 0 = never)\n"
    "  --max-cycles N          stop when a SHAVE exceeds N cycles\n"
    "  --repeat N              run N times (at most 64): host_run_s in the "
    "JSON\n"
    "                          report is the median; the rest is of the last "
    "run\n"
    "  --no-cache              compile anew\n"
    "  --quiet                 no notes\n\n"
    "Examples:\n"
    "  vpu run kernels/grn/layer.xml --layer GRN --shape in0=1x16x256x512 \\\n"
    "      --param bias=1.0 --input 0=random:1 --output out --trace "
    "out/t.pftrace\n"
    "  vpu run layer.xml --model net.xml --at norm1 --input 0=image.npy\n"
    "  vpu run layer.xml --shape in0=1x3x64x64:f32 --shape out0=1x3x64x64 \\\n"
    "      --shaves 7 --report json\n";

enum { MAX_LIST = 64 };

typedef struct {
    const char *xml, *layer, *model, *at, *output, *machine, *trace,
        *trace_json, *vcd, *folded, *kanata, *report, *source_dir, *backend;
    const char *sim_only; /* name of an option given that only sim knows */
    const char *shapes[MAX_LIST], *params[MAX_LIST], *inputs[MAX_LIST],
        *blobs[MAX_LIST], *sets[MAX_LIST], *options[MAX_LIST];
    uint32_t n_shapes, n_params, n_inputs, n_blobs, n_sets, n_options;
    uint32_t shaves, threads, repeat;
    uint32_t profile; /* lines in the table, 0 = none */
    exec_engine engine;
    exec_timing timing;
    bool engine_given;
    exec_order order;
    uint64_t seed, max_cycles, kanata_group;
    uint32_t kanata_bundles;
    trc_level trace_level;
    double timeout_s;
    config_release strict;
    bool no_cache, quiet;
} run_options;

/* --- options
 * ------------------------------------------------------------------------- */

static bool push(const char **list, uint32_t *n, const char *value)
{
    if (*n == MAX_LIST)
        return false;
    list[(*n)++] = value;
    return true;
}

static bool parse_count(const char *text, uint32_t *out)
{
    unsigned long long v;

    if (!str_to_u64(text, &v) || !v || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool parse_order(const char *text, run_options *o)
{
    unsigned long long seed;

    if (!strcmp(text, "sequential"))
        o->order = EXEC_SEQUENTIAL;
    else if (!strcmp(text, "reverse"))
        o->order = EXEC_REVERSE;
    else if (!strncmp(text, "random:", 7) && str_to_u64(text + 7, &seed)) {
        o->order = EXEC_RANDOM;
        o->seed = seed;
    } else
        return false;
    return true;
}

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
    OPT_LAYER = 256,
    OPT_BACKEND,
    OPT_MODEL,
    OPT_AT,
    OPT_SHAPE,
    OPT_PARAM,
    OPT_INPUT,
    OPT_BLOB,
    OPT_STRICT,
    OPT_OUTPUT,
    OPT_SHAVES,
    OPT_MACHINE,
    OPT_SET,
    OPT_ENGINE,
    OPT_TIMING,
    OPT_ORDER,
    OPT_TRACE,
    OPT_TRACE_JSON,
    OPT_VCD,
    OPT_TRACE_LEVEL,
    OPT_PROFILE,
    OPT_FOLDED,
    OPT_KANATA,
    OPT_KANATA_GROUP,
    OPT_KANATA_BUNDLES,
    OPT_REPORT,
    OPT_THREADS,
    OPT_SOURCE_DIR,
    OPT_TIMEOUT,
    OPT_MAX_CYCLES,
    OPT_REPEAT,
    OPT_NO_CACHE,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"layer", required_argument, NULL, OPT_LAYER},
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"model", required_argument, NULL, OPT_MODEL},
    {"at", required_argument, NULL, OPT_AT},
    {"shape", required_argument, NULL, OPT_SHAPE},
    {"param", required_argument, NULL, OPT_PARAM},
    {"input", required_argument, NULL, OPT_INPUT},
    {"blob", required_argument, NULL, OPT_BLOB},
    {"strict", required_argument, NULL, OPT_STRICT},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"shaves", required_argument, NULL, OPT_SHAVES},
    {"machine", required_argument, NULL, OPT_MACHINE},
    {"set", required_argument, NULL, OPT_SET},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"timing", required_argument, NULL, OPT_TIMING},
    {"order", required_argument, NULL, OPT_ORDER},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"trace-json", required_argument, NULL, OPT_TRACE_JSON},
    {"vcd", required_argument, NULL, OPT_VCD},
    {"trace-level", required_argument, NULL, OPT_TRACE_LEVEL},
    {"profile", optional_argument, NULL, OPT_PROFILE},
    {"folded", required_argument, NULL, OPT_FOLDED},
    {"kanata", required_argument, NULL, OPT_KANATA},
    {"kanata-group", required_argument, NULL, OPT_KANATA_GROUP},
    {"kanata-bundles", required_argument, NULL, OPT_KANATA_BUNDLES},
    {"report", required_argument, NULL, OPT_REPORT},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"source-dir", required_argument, NULL, OPT_SOURCE_DIR},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"max-cycles", required_argument, NULL, OPT_MAX_CYCLES},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"no-cache", no_argument, NULL, OPT_NO_CACHE},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0}};

/* False: the value is not one the option takes. */
static bool apply(run_options *o, int c, arena *a)
{
    unsigned long long n;

    switch (c) {
    case OPT_LAYER:
        o->layer = optarg;
        return true;
    case OPT_BACKEND:
        o->backend = optarg;
        return *optarg;
    case OPT_MODEL:
        o->model = optarg;
        return true;
    case OPT_AT:
        o->at = optarg;
        return true;
    case OPT_SHAPE:
        return push(o->shapes, &o->n_shapes, optarg);
    case OPT_PARAM:
        return push(o->params, &o->n_params, optarg);
    case OPT_INPUT:
        return push(o->inputs, &o->n_inputs, optarg);
    case OPT_BLOB:
        return push(o->blobs, &o->n_blobs, optarg);
    case OPT_STRICT:
        return config_release_parse(optarg, &o->strict);
    case OPT_OUTPUT:
        o->output = optarg;
        return true;
    case OPT_SHAVES:
        return parse_count(optarg, &o->shaves);
    case OPT_MACHINE:
        o->machine = optarg;
        return true;
    case OPT_SET:
        return push(o->sets, &o->n_sets, optarg);
    case OPT_ENGINE:
        o->engine =
            strcmp(optarg, "compiled") ? EXEC_INTERPRETED : EXEC_COMPILED;
        o->engine_given = true;
        return o->engine == EXEC_COMPILED || !strcmp(optarg, "interpreted");
    case OPT_TIMING:
        return exec_timing_parse(optarg, &o->timing);
    case OPT_ORDER:
        return parse_order(optarg, o);
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
    case OPT_PROFILE:
        o->profile = 20;
        return !optarg || parse_count(optarg, &o->profile);
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
        return parse_count(optarg, &o->kanata_bundles);
    case OPT_REPORT:
        o->report = optarg;
        return !strcmp(optarg, "text") || !strcmp(optarg, "json");
    case OPT_THREADS:
        return parse_count(optarg, &o->threads);
    case OPT_SOURCE_DIR:
        o->source_dir = optarg;
        return true;
    case OPT_TIMEOUT:
        return str_to_f64(optarg, &o->timeout_s) && o->timeout_s >= 0 &&
               o->timeout_s < 1e9;
    case OPT_MAX_CYCLES:
        if (!str_to_u64(optarg, &n) || !n)
            return false;
        o->max_cycles = n;
        return true;
    case OPT_REPEAT:
        return parse_count(optarg, &o->repeat) && o->repeat <= 64;
    case OPT_NO_CACHE:
        o->no_cache = true;
        return true;
    case OPT_QUIET:
        o->quiet = true;
        return true;
    default: /* -D, -I */
        return push(o->options, &o->n_options,
                    arena_printf(a, "-%c%s", c, optarg));
    }
}

/* Options about the simulated machine. */
static bool is_sim_only(int c)
{
    return (c >= OPT_SHAVES && c <= OPT_KANATA_BUNDLES) || c == OPT_MAX_CYCLES;
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
    if (strcmp(ops->name, "sim") && o->sim_only)
        return cli_usage(&cli_run,
                         "--%s is about the simulator: not with --backend %s",
                         o->sim_only, o->backend);
    return CLI_OK;
}

/* What looks into a run needs the interpreter, and time as flows. */
static int check_observers(run_options *o)
{
    const char *asker = o->profile  ? "--profile"
                        : o->folded ? "--folded"
                        : o->kanata ? "--kanata"
                                    : NULL;

    if (asker && o->engine_given && o->engine == EXEC_COMPILED)
        return cli_usage(&cli_run,
                         "%s needs the interpreter: not with --engine compiled",
                         asker);
    if (asker)
        o->engine = EXEC_INTERPRETED;
    else if (o->trace || o->trace_json || o->vcd)
        asker = "a trace";
    if (asker && o->timing == EXEC_NO_TIMING)
        return cli_usage(&cli_run, "%s needs time: not with --timing none",
                         asker);
    if ((o->profile || o->folded) && o->timing == EXEC_TRANSACTIONS)
        return cli_usage(&cli_run, "%s works with --timing flow only", asker);
    return CLI_OK;
}

static int parse(int argc, char **argv, run_options *o, arena *a)
{
    int c, which = 0;

    *o = (run_options){.report = "text",
                       .backend = "sim",
                       .timeout_s = 3600,
                       .repeat = 1,
                       .kanata_bundles = 10000,
                       .trace_level = TRC_FULL};
    while ((c = getopt_long(argc, argv, "D:I:", long_options, &which)) != -1) {
        if (c == '?')
            return cli_usage(&cli_run, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_run, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
        if (is_sim_only(c))
            o->sim_only = long_options[which].name;
    }
    if (optind + 1 < argc)
        return cli_usage(&cli_run, "one binding file at a time ('%s', '%s')",
                         argv[optind], argv[optind + 1]);
    if (optind == argc)
        return cli_usage(&cli_run, "no binding file");
    o->xml = argv[optind];
    if (o->model && o->n_shapes)
        return cli_usage(&cli_run, "--model and --shape exclude each other");
    if (o->model && o->layer)
        return cli_usage(&cli_run, "--model and --layer exclude each other; "
                                   "--at NAME picks a layer of the model");
    if (o->model && o->n_blobs)
        return cli_usage(&cli_run, "--model and --blob exclude each other");
    if (o->at && !o->model)
        return cli_usage(&cli_run, "--at needs --model");
    return check_backend(o) ? CLI_ERROR : check_observers(o);
}

/* --- the steps
 * ------------------------------------------------------------------------ */

typedef struct {
    run_options o;
    arena *a;
    log_sink log;
    mach_desc desc;
    config_file binding;
    config_model model;
    graph *g;
    backend_sim *sim;
    trc_writer *trace;
    file_out folded, kanata_file;
    kanata *kanata;
} session;

static vpu_status load_machine(session *s, vpu_error *err)
{
    vpu_status st = mach_desc_load(s->o.machine, s->a, &s->desc, err);

    for (uint32_t i = 0; i < s->o.n_sets && !st; i++)
        st = mach_desc_set(&s->desc, s->a, s->o.sets[i], err);
    if (!st && s->o.shaves > s->desc.num_shaves)
        st = err_set(err, VPU_ERR_INVALID, "--shaves %u: the machine has %llu",
                     s->o.shaves, (unsigned long long)s->desc.num_shaves);
    return st;
}

static vpu_status bind(session *s, vpu_error *err)
{
    const run_options *o = &s->o;
    graph_shape shapes[MAX_LIST];
    config_param params[MAX_LIST];
    config_blob blobs[MAX_LIST];
    graph_request q = {.binding = &s->binding,
                       .at = o->at,
                       .type = o->layer,
                       .shapes = shapes,
                       .n_shapes = o->n_shapes,
                       .blobs = blobs,
                       .n_blobs = o->n_blobs,
                       .params = params,
                       .n_params = o->n_params};
    vpu_status st =
        config_file_read(o->xml, s->a, &s->log, o->strict, &s->binding, err);

    for (uint32_t i = 0; i < o->n_shapes && !st; i++)
        st = graph_shape_parse(o->shapes[i], &shapes[i], err);
    for (uint32_t i = 0; i < o->n_params && !st; i++)
        st = graph_param_parse(o->params[i], s->a, &params[i], err);
    for (uint32_t i = 0; i < o->n_blobs && !st; i++)
        st = graph_blob_read(o->blobs[i], s->a, &blobs[i], err);
    if (!st && o->model) {
        st = config_model_read(o->model, NULL, s->a, &s->model, err);
        q.model = &s->model;
    }
    if (!st)
        st = graph_bind(&q, s->a, &s->log, &s->g, err);
    return st;
}

/* "N=SPEC" for port N; the last one counts. */
static vpu_status input_spec(session *s, uint32_t port, const char **spec,
                             vpu_error *err)
{
    *spec = arena_printf(s->a, "random:%u", port);
    for (uint32_t i = 0; i < s->o.n_inputs; i++) {
        const char *text = s->o.inputs[i], *eq = strchr(text, '=');
        unsigned long long n;

        if (!eq ||
            !str_to_u64(arena_strndup(s->a, text, (size_t)(eq - text)), &n))
            return err_set(err, VPU_ERR_INVALID,
                           "--input %s: expected N=FILE.npy|zeros|ramp|"
                           "random:SEED",
                           text);
        if (n == port)
            *spec = eq + 1;
    }
    return VPU_OK;
}

static vpu_status check_ports(session *s, vpu_error *err)
{
    for (uint32_t i = 0; i < s->o.n_inputs; i++) {
        unsigned long long n = strtoull(s->o.inputs[i], NULL, 10);
        bool found = false;

        for (uint32_t k = 0; k < s->g->n_buffers; k++)
            found |= s->g->buffers[k].role == GRAPH_INPUT &&
                     s->g->buffers[k].port == n;
        if (!found)
            return err_set(err, VPU_ERR_INVALID,
                           "--input %s: the layer has no input %llu that its "
                           "kernels use",
                           s->o.inputs[i], n);
    }
    return VPU_OK;
}

static vpu_status fill_inputs(session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < s->g->n_buffers && !st; i++) {
        const graph_buffer *b = &s->g->buffers[i];
        const char *spec;

        if (b->role != GRAPH_INPUT)
            continue;
        st = input_spec(s, b->port, &spec, err);
        if (!st)
            st = graph_input_fill(b, spec, backend_sim_buffer(s->sim, i), err);
    }
    return st ? st : check_ports(s, err);
}

static vpu_status open_trace(session *s, vpu_error *err)
{
    trc_config cfg = {.level = s->o.trace_level,
                      .clk_mhz = (uint32_t)s->desc.clk_mhz};
    vpu_status st;

    if (!s->o.trace && !s->o.trace_json && !s->o.vcd)
        return VPU_OK;
    st = trc_writer_create(&cfg, &s->trace, err);
    if (!st && s->o.trace)
        st = trc_writer_add(s->trace, TRC_PERFETTO, s->o.trace, err);
    if (!st && s->o.trace_json)
        st = trc_writer_add(s->trace, TRC_CHROME_JSON, s->o.trace_json, err);
    if (!st && s->o.vcd)
        st = trc_writer_add(s->trace, TRC_VCD, s->o.vcd, err);
    return st;
}

static vpu_status open_kanata(session *s, vpu_error *err)
{
    uint64_t most = 0;
    vpu_status st;

    if (!s->o.kanata)
        return VPU_OK;
    for (uint32_t i = 0; i < s->g->n_launches; i++) {
        const graph_launch *l = &s->g->launches[i];
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
    report_source r = {s->g, s->sim, &s->desc, s->o.timing};
    str out = {0};

    cli_profile_folded(&r, &out);
    fwrite(str_text(&out), 1, out.n, s->folded.f);
    str_free(&out);
    return file_out_commit(&s->folded, err);
}

static vpu_status save(session *s, vpu_error *err)
{
    void **data = arena_array(s->a, void *, s->g->n_buffers + 1);
    report_source r = {s->g, s->sim, &s->desc, s->o.timing};
    str json = {0};
    vpu_status st;

    for (uint32_t i = 0; i < s->g->n_buffers; i++)
        data[i] = backend_sim_buffer(s->sim, i);
    st = graph_output_save(s->o.output, s->g, data, err);
    report_json(&r, &json);
    if (!st)
        st = file_write(file_join(s->a, s->o.output, "report.json"), json.data,
                        json.n, err);
    str_free(&json);
    return st;
}

static void print_report(session *s)
{
    report_source r = {s->g, s->sim, &s->desc, s->o.timing};
    str out = {0};

    if (!strcmp(s->o.report, "json"))
        report_json(&r, &out);
    else
        report_text(&r, &out);
    if (s->o.profile && strcmp(s->o.report, "json"))
        cli_profile_text(&r, s->o.profile, &out);
    cli_progress_done();
    fputs(str_text(&out), stdout);
    str_free(&out);
}

/* What kernels print goes where a person sees it, but not into the JSON. */
static void print_text(void *user, const char *text, size_t n)
{
    const session *s = user;

    cli_progress_done();
    fwrite(text, 1, n, strcmp(s->o.report, "json") ? stdout : stderr);
}

/* On another backend than the simulator. */
static vpu_status run_other(session *s, vpu_error *err)
{
    const run_options *o = &s->o;
    backend_config cfg = {.source_dir = o->source_dir,
                          .options = o->options,
                          .n_options = o->n_options,
                          .no_cache = o->no_cache,
                          .timeout_s = o->timeout_s,
                          .n_threads = o->threads,
                          .params = o->params,
                          .n_params = o->n_params,
                          .log = &s->log,
                          .print = print_text,
                          .print_user = s};
    other_run r = {.id = o->backend,
                   .repeat = o->repeat,
                   .output = o->output,
                   .json = !strcmp(o->report, "json")};
    vpu_status st = bind(s, err);
    const char **inputs;

    if (st)
        return st;
    inputs = arena_array(s->a, const char *, s->g->n_buffers + 1);
    for (uint32_t i = 0; i < s->g->n_buffers && !st; i++)
        if (s->g->buffers[i].role == GRAPH_INPUT)
            st = input_spec(s, s->g->buffers[i].port, &inputs[i], err);
    if (!st)
        st = check_ports(s, err);
    if (!st && o->output)
        st = file_mkdirs(o->output, err);
    r.g = s->g;
    r.inputs = inputs;
    return st ? st : other_run_all(&r, &cfg, err);
}

static vpu_status run(session *s, vpu_error *err)
{
    backend_sim_config cfg = {.desc = &s->desc,
                              .n_shaves = s->o.shaves,
                              .n_threads = s->o.threads,
                              .engine = s->o.engine,
                              .timing = s->o.timing,
                              .order = s->o.order,
                              .seed = s->o.seed,
                              .max_cycles = s->o.max_cycles,
                              .timeout_s = s->o.timeout_s,
                              .source_dir = s->o.source_dir,
                              .options = s->o.options,
                              .n_options = s->o.n_options,
                              .no_cache = s->o.no_cache,
                              .profile = s->o.profile || s->o.folded,
                              .log = &s->log,
                              .print = print_text,
                              .print_user = s};
    vpu_status st = load_machine(s, err);

    if (!st)
        st = bind(s, err);
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
    if (!st)
        st = backend_sim_open(&cfg, s->g, &s->sim, err);
    for (uint32_t i = 0; i < s->o.repeat && !st; i++) {
        st = fill_inputs(s, err);
        /* One run in the trace, the last. */
        cfg.trace = i + 1 == s->o.repeat ? s->trace : NULL;
        cfg.group_watch = i + 1 == s->o.repeat ? kanata_watch(s->kanata) : NULL;
        if (!st)
            st = backend_sim_run(s->sim, err);
    }
    if (!st && s->o.output)
        st = save(s, err);
    if (!st && s->trace) {
        trc_writer *w = s->trace;

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

    if (!rc) {
        s.log = cli_log(s.o.quiet);
        if (on_sim(&s.o) ? run(&s, &err) : run_other(&s, &err))
            rc = cli_fail(&err);
    }
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
