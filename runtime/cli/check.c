/* vpu check: a layer run for its checkers. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/check/suppress.h"
#include "runtime/cli/check.h"
#include "runtime/cli/ending.h"

/* clang-format off */
static const char help[] =
    "usage: vpu check LAYER.xml [OPTIONS]\n\n"
    "Runs a layer and looks at everything its kernels do: accesses outside their\n"
    "buffers and arrays, values nobody wrote, races between work-items and between\n"
    "work-groups, barriers not all reach, transfers used before they are waited\n"
    "for, and more. Exit status: 0 nothing found, 1 findings, 2 and above it could\n"
    "not be looked for (vpu run --help has the list).\n"
    "docs/check.md describes each checker.\n\n"
    "  --check LIST            all, none, default, or some of these with commas\n"
    "                          between, -NAME taking one away: bounds align uninit\n"
    "                          stale-local race same-write group-race rewritten unwritten\n"
    "                          divergence dma-wait dma-shape dma-phase restrict\n"
    "                          order group-size local-memory divide shift convert half\n"
    "                          nan (same-write and nan are not on by default)\n"
    "  --max-findings N        show at most so many (default 100, 0 = all)\n"
    "  --suppress FILE         findings that are known: lines CHECKER KERNEL FILE[:LINE]\n"
    "  --json                  the findings as JSON\n"
    "  --sarif FILE            write them as SARIF 2.1.0, too\n"
    "  --times                 a last line: host seconds of it all, and of the launches\n"
    "                          (not with --json)\n"
    "  --order all[:N]         try other orders of work-groups, too: reverse, N random\n"
    "                          ones (default 4), groups of different SHAVEs by turns,\n"
    "                          transfers as late as may be; results must be the same\n"
    TARGET_HELP_LAYER
    "How it runs:\n"
    TARGET_HELP_RUN
    "\nExamples:\n"
    "  vpu check kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 --param bias=1.0\n"
    "  vpu check layer.xml --model net.xml --check bounds,race --sarif check.sarif\n";
/* clang-format on */

typedef struct {
    target_options t;
    const char *checks, *sarif, *suppress;
    unsigned long long max_findings;
    bool json, orders, times;
    uint32_t n_random;
} check_options;

enum {
    OPT_CHECK = TARGET_OWN,
    OPT_MAX_FINDINGS,
    OPT_SUPPRESS,
    OPT_JSON,
    OPT_SARIF,
    OPT_TIMES
};

static const struct option long_options[] = {
    TARGET_LONG,
    {"check", required_argument, NULL, OPT_CHECK},
    {"max-findings", required_argument, NULL, OPT_MAX_FINDINGS},
    {"suppress", required_argument, NULL, OPT_SUPPRESS},
    {"json", no_argument, NULL, OPT_JSON},
    {"sarif", required_argument, NULL, OPT_SARIF},
    {"times", no_argument, NULL, OPT_TIMES},
    {NULL, 0, NULL, 0}};

static bool apply(check_options *o, int c, arena *a)
{
    switch (c) {
    case TARGET_ORDER:
        if (strncmp(optarg, "all", 3))
            return target_option(&o->t, c, optarg, a);
        o->orders = true;
        return !optarg[3] ||
               (optarg[3] == ':' && target_count(optarg + 4, &o->n_random) &&
                o->n_random <= 1000);
    case OPT_CHECK:
        o->checks = optarg;
        return true;
    case OPT_MAX_FINDINGS:
        return str_to_u64(optarg, &o->max_findings) &&
               o->max_findings <= UINT32_MAX;
    case OPT_SUPPRESS:
        o->suppress = optarg;
        return *optarg;
    case OPT_JSON:
        return o->json = true;
    case OPT_TIMES:
        return o->times = true;
    case OPT_SARIF:
        o->sarif = optarg;
        return *optarg;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

static int parse(int argc, char **argv, check_options *o, arena *a)
{
    int c, which = 0;

    *o = (check_options){
        .checks = "default", .max_findings = 100, .n_random = 4};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_check, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_check, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
    }
    c = target_check(&o->t, &cli_check, argc, argv);
    if (!c && o->times && o->json)
        c = cli_usage(&cli_check, "--times and --json exclude each other");
    if (!c && o->t.stick_only)
        c = cli_usage(&cli_check, "%s is about sticks", o->t.stick_only);
    return c;
}

typedef struct {
    const target_options *o;
    const target *t;
    arena *a;
} inputs;

static vpu_status fill(void *user, const backend *b, vpu_error *err)
{
    const inputs *in = user;
    vpu_status st = target_fill_all(in->o, in->t, b, in->a, err);

    return st ? st : target_check_inputs(in->o, in->t, in->a, err);
}

vpu_status cli_check_layer(const target_options *o, const target *t,
                           check_layer_config *cfg, const log_sink *log,
                           arena *a, check_report *r, vpu_error *err)
{
    inputs in = {o, t, a};

    cfg->run = target_backend(o, t);
    cfg->run.log = log;
    cfg->fill = fill;
    cfg->fill_user = &in;
    return check_layer(cfg, t->g, a, r, err);
}

static vpu_status print(const check_options *o, const check_report *r,
                        const graph *g, arena *a, vpu_error *err)
{
    str text = {0}, sarif = {0};
    vpu_status st = VPU_OK;

    if (o->sarif) {
        check_print_sarif(r, &sarif);
        st = file_write(o->sarif, str_text(&sarif), sarif.n, err);
    }
    if (o->json)
        check_print_json(r, g, &text);
    else
        check_print_text(r, g, a, &text);
    cli_progress_done();
    if (!st && o->json)
        ending_print(str_text(&text), text.n);
    else if (!st)
        cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
    str_free(&sarif);
    return st;
}

static vpu_status run(const check_options *o, arena *a, check_report *r,
                      vpu_error *err)
{
    log_sink log = cli_log(o->t.quiet);
    target t = {0};
    check_layer_config cfg = {.max_findings = (uint32_t)o->max_findings,
                              .orders = o->orders,
                              .n_random = o->n_random,
                              .seed = 1};
    check_suppressions *known = NULL;
    vpu_status st = check_set_parse(o->checks, &cfg.enabled, err);

    if (!st && o->suppress)
        st = check_suppressions_read(o->suppress, a, &known, err);
    cfg.suppressions = known;
    if (!st)
        st = target_bind(&o->t, a, &log, &t, err);
    if (!st)
        st = cli_check_layer(&o->t, &t, &cfg, &log, a, r, err);
    return st ? st : print(o, r, t.g, a, err);
}

static int check_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    check_options o;
    check_report r = {0};
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, a);

    if (!rc && run(&o, a, &r, &err))
        rc = cli_fail(&err);
    if (!rc && o.times)
        printf("seconds %.6f launches %.6f\n", r.seconds, r.run_s);
    if (!rc && r.n)
        rc = CLI_DIFFERS;
    arena_destroy(a);
    return rc;
}

const cli_command cli_check = {"check", "find what a layer's kernels do wrong",
                               help, check_main};
