/* vpu record: a layer's run on a backend, kept in one file. */
#include <stdio.h>
#include <string.h>

#include "runtime/cli/diff.h"
#include "runtime/cli/offers.h"
#include "runtime/diff/record.h"

typedef struct {
    target_options t;
    const char *backend, *output;
    cli_limit limit;
    bool outputs_only;
} record_options;

#define AT(field) offsetof(record_options, field)

static const cli_option rows[] = {
    {"output", "FILE", OPTION_NAME, AT(output),
     .help = "the recording (docs/formats.md)"},
    {"to", "FILE", OPTION_NAME, AT(output), .help = NULL},
    {"backend", "ID", OPTION_NAME, AT(backend), .offer = offers_devices,
     .help = "what runs it (default sim; see vpu devices)"},
    {"outputs-only", NULL, OPTION_FLAG, AT(outputs_only),
     .help = "not the tensors between stages"},
    {"max-slowdown", "X", OPTION_OTHER, AT(limit), .take = cli_take_limit,
     .help = "kept with it: vpu diff finds a run too slow that takes more than "
             "X times the recorded cycles"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_backend_heading, 0},
                                   TARGET_HOW(AT(t)),
                                   TARGET_STICK(AT(t))};

static int parse(int argc, char **argv, record_options *o,
                 const backend_ops **ops, const char **device, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    vpu_error err;
    int c;

    *o = (record_options){.backend = "sim"};
    target_init(&o->t);
    c = cli_parse(&cli_record, o, &line, a);
    if (!c && !o->output)
        c = cli_usage(&cli_record, "--output says which file to write");
    c = c ? c : target_check(&o->t, &cli_record, line.words, line.n_words);
    if (!c && backend_find(o->backend, ops, device, &err))
        c = cli_fail(&err);
    o->t.offered = c ? 0 : backend_extras(*ops);
    return c ? c
             : cli_check_needs(
                   &cli_record, &line.needs, ops, 1,
                   arena_printf(a, "not with --backend %s", o->backend));
}

static vpu_status keep_limit(const record_options *o, const backend *b,
                             recording *r, vpu_error *err)
{
    bool cycles = b->ops->caps(b->self)->cycles;

    if (!cycles && o->limit.times > 0 && !o->limit.if_known)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "--max-slowdown %g: %s counts no cycles; expected the "
                       "simulator with its timing",
                       o->limit.times, o->backend);
    r->max_slowdown = cycles ? o->limit.times : 0;
    return VPU_OK;
}

static vpu_status run(const record_options *o, const backend_ops *ops,
                      const char *device, arena *a, const log_sink *log,
                      vpu_error *err)
{
    target t = {0};
    backend_config cfg;
    void *const *inputs;
    backend b = {0};
    recording r;
    vpu_status st = target_bind(&o->t, a, log, &t, err);

    cfg = target_backend(&o->t, &t);
    cfg.device = device;
    cfg.log = log;
    cfg.print = cli_print_aside;
    if (!st)
        st = target_make_inputs(&o->t, &t, a, &inputs, err);
    if (!st)
        st = backend_open(ops, &cfg, t.graph, &b, err);
    if (!st)
        st = diff_record(&(const diff_record_job){.backend = &b,
                                                  .config = &cfg,
                                                  .graph = t.graph,
                                                  .inputs = inputs,
                                                  .stages = !o->outputs_only},
                         a, &r, err);
    if (!st)
        st = keep_limit(o, &b, &r, err);
    if (!st)
        st = recording_write(o->output, &r, err);
    backend_close(&b);
    return st;
}

static int record_main(int argc, char **argv)
{
    record_options o;
    const backend_ops *ops = NULL;
    const char *device = "";
    arena *a = arena_create(0);
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, &ops, &device, a);

    if (!rc) {
        log_sink log = cli_log(o.t.quiet);

        rc = run(&o, ops, device, a, &log, &err) ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(a);
    return rc;
}

const cli_command cli_record = {
    .name = "record",
    .summary = "keep what a backend computed",
    .head =
        "usage: vpu record LAYER.xml --output FILE [OPTIONS]\n\n"
        "Runs a layer on a backend and writes what went in and what came out, with\n"
        "times and hashes of kernel and binding, to one file. `vpu diff \u2026 --b\n"
        "replay:FILE` compares with it ever after, on any machine, and refuses when\n"
        "the layer, its shapes, parameters or inputs are not those recorded. Kernels\n"
        "and work sizes may change: a note says so (--exact-source refuses that, too).\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Example:\n"
        "  vpu record layer.xml --shape in0=1x3x64x64 --output golden.vpurec\n"
        "  vpu diff layer.xml --shape in0=1x3x64x64 --b replay:golden.vpurec\n",
    .main = record_main};
