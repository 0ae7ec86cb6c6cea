/* vpu record: a layer's run on a backend, kept in one file. */
#include <stdio.h>
#include <string.h>

#include "runtime/cli/diff.h"
#include "runtime/diff/record.h"

static const char help[] =
    "usage: vpu record LAYER.xml --to FILE [OPTIONS]\n\n"
    "Runs a layer on a backend and writes what went in and what came out, "
    "with\n"
    "times and hashes of kernel and binding, to one file. `vpu diff … --b\n"
    "replay:FILE` compares with it ever after, on any machine, and refuses "
    "when\n"
    "kernel, binding, parameters or inputs are not those recorded.\n\n"
    "  --to FILE               the recording (docs/formats.md)\n"
    "  --backend ID            what runs it (default sim; see vpu devices)\n"
    "  --outputs-only          not the tensors between "
    "stages\n" TARGET_HELP_LAYER "How it runs (machine, order and so on are of "
    "the simulator):\n" TARGET_HELP_RUN "\nExample:\n"
    "  vpu record layer.xml --shape in0=1x3x64x64 --backend sim --to "
    "golden.vpurec\n"
    "  vpu diff layer.xml --shape in0=1x3x64x64 --b replay:golden.vpurec\n";

typedef struct {
    target_options t;
    const char *backend, *to;
    bool outputs_only;
} record_options;

enum { OPT_BACKEND = TARGET_OWN, OPT_TO, OPT_OUTPUTS_ONLY };

static const struct option long_options[] = {
    TARGET_LONG,
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"to", required_argument, NULL, OPT_TO},
    {"outputs-only", no_argument, NULL, OPT_OUTPUTS_ONLY},
    {NULL, 0, NULL, 0}};

static bool apply(record_options *o, int c, arena *a)
{
    switch (c) {
    case OPT_BACKEND:
        o->backend = optarg;
        return *optarg;
    case OPT_TO:
        o->to = optarg;
        return *optarg;
    case OPT_OUTPUTS_ONLY:
        return o->outputs_only = true;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

static int parse(int argc, char **argv, record_options *o, arena *a)
{
    int c, which = 0;

    *o = (record_options){.backend = "sim"};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_record, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_record, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
    }
    if (o->t.sim_only && strcmp(o->backend, "sim"))
        return cli_usage(&cli_record,
                         "%s is about the simulator: not with --backend %s",
                         o->t.sim_only, o->backend);
    if (!o->to)
        return cli_usage(&cli_record, "--to says which file to write");
    return target_check(&o->t, &cli_record, argc, argv);
}

static vpu_status run(const record_options *o, arena *a, const log_sink *log,
                      vpu_error *err)
{
    target t = {0};
    backend_config cfg;
    const backend_ops *ops = NULL;
    void *const *inputs;
    backend b = {0};
    recording r;
    vpu_status st = target_bind(&o->t, a, log, &t, err);

    cfg = target_backend(&o->t, &t);
    cfg.log = log;
    cfg.print = cli_print_aside;
    if (!st)
        st = backend_find(o->backend, &ops, &cfg.device, err);
    if (!st)
        st = cli_make_inputs(&o->t, &t, a, &inputs, err);
    if (!st)
        st = backend_open(ops, &cfg, t.g, &b, err);
    if (!st)
        st = diff_record(&b, &cfg, t.g, inputs, !o->outputs_only, a, &r, err);
    if (!st)
        st = recording_write(o->to, &r, err);
    backend_close(&b);
    return st;
}

static int record_main(int argc, char **argv)
{
    record_options o;
    arena *a = arena_create(0);
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, a);

    if (!rc) {
        log_sink log = cli_log(o.t.quiet);

        rc = run(&o, a, &log, &err) ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(a);
    return rc;
}

const cli_command cli_record = {"record", "keep what a backend computed", help,
                                record_main};
