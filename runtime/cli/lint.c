/* vpu lint: what can be said of a binding and its kernels without a run. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/target.h"
#include "runtime/lint/lint.h"

/* clang-format off */
static const char help[] =
    "usage: vpu lint LAYER.xml [KERNEL.cl ...] [OPTIONS]\n\n"
    "Looks at a binding file and its kernels without running them: bindings\n"
    "against the kernels' signatures, work sizes and local memory against the\n"
    "device, and what the vendor's guide warns of. KERNEL.cl is taken instead of\n"
    "the file of that name the binding has. Exit status: 0 nothing found, 1\n"
    "findings, 2 bad input. docs/lint.md describes each check.\n\n"
    "  --checks LIST           all (default), none, or some, comma-separated:\n"
    "                          arg-missing arg-unknown arg-duplicate arg-kind\n"
    "                          arg-type port-index format work-size split\n"
    "                          local-multiple local-memory early-exit\n"
    "                          missing-restrict unroll vector-types not-vectorized\n"
    "                          ddr-loop spills\n"
    "  --json                  the findings as JSON\n"
    "  --sarif FILE            write them as SARIF 2.1.0, too\n"
    "  --layer NAME            only that CustomLayer\n"
    "  --shape in0=1x24x128x512[:f16]\n"
    "                          with it, or --model, sizes are known, too; without,\n"
    "                          only those that are constant in the file\n"
    "  --param NAME=VALUE, --blob NAME=FILE.npy\n"
    "                          what the layer needs besides\n"
    "  --model MODEL.xml, --at NAME\n"
    "                          shapes and parameters from an OpenVINO IR\n"
    "  --strict RELEASE        refuse what that release's compiler refuses\n"
    "  --machine FILE, --set KEY=VALUE\n"
    "                          another device (ocl_local_budget)\n"
    "  --source-dir DIR        look for .cl files there first\n"
    "  -D NAME[=VALUE], -I DIR for the OpenCL preprocessor\n"
    CLI_HELP_COMPILE
    "  --quiet                 no notes\n\n"
    "Examples:\n"
    "  vpu lint kernels/grn/layer.xml\n"
    "  vpu lint layer.xml --shape in0=1x16x256x512 --param bias=1.0\n"
    "  vpu lint layer.xml draft/grn.cl --checks missing-restrict,unroll\n";
/* clang-format on */

typedef struct {
    target_options t;
    const char *checks, *sarif;
    bool json;
} lint_options;

enum { OPT_CHECKS = TARGET_OWN, OPT_JSON, OPT_SARIF };

static const struct option long_options[] = {
    {"checks", required_argument, NULL, OPT_CHECKS},
    {"json", no_argument, NULL, OPT_JSON},
    {"sarif", required_argument, NULL, OPT_SARIF},
    {"layer", required_argument, NULL, TARGET_LAYER},
    {"shape", required_argument, NULL, TARGET_SHAPE},
    {"param", required_argument, NULL, TARGET_PARAM},
    {"blob", required_argument, NULL, TARGET_BLOB},
    {"model", required_argument, NULL, TARGET_MODEL},
    {"at", required_argument, NULL, TARGET_AT},
    {"strict", required_argument, NULL, TARGET_STRICT},
    {"machine", required_argument, NULL, TARGET_MACHINE},
    {"set", required_argument, NULL, TARGET_SET},
    {"source-dir", required_argument, NULL, TARGET_SOURCE_DIR},
    TARGET_LONG_COMPILE,
    {"quiet", no_argument, NULL, TARGET_QUIET},
    {NULL, 0, NULL, 0}};

static bool apply(lint_options *o, int c, arena *a)
{
    switch (c) {
    case OPT_CHECKS:
        o->checks = optarg;
        return true;
    case OPT_JSON:
        return o->json = true;
    case OPT_SARIF:
        o->sarif = optarg;
        return *optarg;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

static int parse(int argc, char **argv, lint_options *o, arena *a)
{
    int c, which = 0, rc;

    *o = (lint_options){.checks = "all"};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_lint, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_lint, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
    }
    /* What follows the binding file are kernels. */
    rc =
        target_check(&o->t, &cli_lint, optind < argc ? optind + 1 : argc, argv);
    if (!rc && (o->t.params.n || o->t.blobs.n) && !o->t.shapes.n && !o->t.model)
        rc = cli_usage(&cli_lint,
                       "--param and --blob are for sizes: give --shape, too");
    return rc;
}

/* The binding file; with shapes or a model, bound. */
static vpu_status bind(const lint_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err)
{
    vpu_status st;

    if (o->t.shapes.n || o->t.model)
        return target_bind(&o->t, a, log, t, err);
    st = mach_desc_load(o->t.machine, a, &t->desc, err);
    for (uint32_t i = 0; i < o->t.sets.n && !st; i++)
        st = mach_desc_set(&t->desc, a, o->t.sets.items[i], err);
    if (!st)
        st = config_file_read(o->t.xml, a, log, o->t.strict, &t->binding, err);
    return st;
}

static vpu_status print(const lint_options *o, const lint_result *r, arena *a,
                        vpu_error *err)
{
    str text = {0}, sarif = {0};
    vpu_status st = VPU_OK;

    if (o->sarif) {
        lint_print_sarif(r, &sarif);
        st = file_write(o->sarif, str_text(&sarif), sarif.n, err);
    }
    if (o->json)
        lint_print_json(r, o->t.xml, &text);
    else
        lint_print_text(r, o->t.xml, a, &text);
    if (!st && o->json)
        ending_print(str_text(&text), text.n);
    else if (!st)
        cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
    str_free(&sarif);
    return st;
}

static vpu_status run(const lint_options *o, int argc, char **argv, arena *a,
                      lint_result *r, vpu_error *err)
{
    log_sink log = cli_log(o->t.quiet);
    target t = {0};
    lint_config cfg = {.layer = o->t.layer,
                       .sources = (const char *const *)argv + optind + 1,
                       .n_sources = (uint32_t)(argc - optind - 1),
                       .source_dir = o->t.source_dir,
                       .options = o->t.clang.items,
                       .n_options = o->t.clang.n,
                       .limits = &o->t.compile,
                       .log = &log};
    vpu_status st = lint_checks_parse(o->checks, &cfg.checks, err);

    if (!st)
        st = bind(o, a, &log, &t, err);
    cfg.binding = &t.binding;
    cfg.g = t.g;
    cfg.local_budget = t.desc.ocl_local_budget;
    if (!st)
        st = lint_run(&cfg, a, r, err);
    return st;
}

static int lint_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    lint_options o;
    lint_result r = {0};
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, a);

    if (!rc && run(&o, argc, argv, a, &r, &err))
        rc = cli_fail(&err);
    if (!rc && print(&o, &r, a, &err))
        rc = cli_fail(&err);
    if (!rc && r.n_findings)
        rc = CLI_DIFFERS;
    arena_destroy(a);
    return rc;
}

const cli_command cli_lint = {
    "lint", "check a binding and its kernels without a run", help, lint_main};
