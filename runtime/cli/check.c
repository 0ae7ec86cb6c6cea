/* vpu check: a layer run for its checkers. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/target_graph.h"

typedef struct {
    target_options t;
    const char *checks, *sarif, *suppress;
    uint64_t max_findings;
    bool json, orders, times, strict_align;
    uint32_t n_random;
} check_options;

static bool take_order(void *fields, const char *value, arena *a)
{
    check_options *o = fields;

    if (strncmp(value, "all", 3))
        return target_take_order(&o->t, value, a);
    o->orders = true;
    return !value[3] ||
           (value[3] == ':' && options_count(value + 4, &o->n_random) &&
            o->n_random <= 1000);
}

#define AT(field) offsetof(check_options, field)

static const cli_option rows[] = {
    {"checks", "LIST", OPTION_TEXT, AT(checks), .offer = offers_checks,
     .help = "all, none, default, or some of these with commas between, -NAME "
             "taking one away:"
#define CHECK(id, name, on, level, from, about, advice) " " name
#include "sim/check/check.def"
#undef CHECK
             " (same-write and nan are not on by default)"},
    {"check", "LIST", OPTION_TEXT, AT(checks), .help = NULL},
    {"strict-align", NULL, OPTION_FLAG, AT(strict_align),
     .help = "vectors at addresses that are no multiple of their size are "
             "errors, not notes"},
    {"max-findings", "N", OPTION_NUMBER, AT(max_findings),
     .help = "show at most so many (default 100, 0 = all)"},
    {"suppress", "FILE", OPTION_NAME, AT(suppress),
     .help = "findings that are known: lines CHECKER KERNEL FILE[:LINE]"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the findings as JSON"},
    {"sarif", "FILE", OPTION_NAME, AT(sarif),
     .help = "write them as SARIF 2.1.0, too"},
    {"times", NULL, OPTION_FLAG, AT(times),
     .help = "a last line: host seconds of it all, and of the launches (not "
             "with --json)"},
    {"order", "all[:N]", OPTION_OTHER, .take = take_order,
     .help = "try other orders of work-groups, too: reverse, N random ones "
             "(default 4), groups of different SHAVEs by turns, transfers as "
             "late as may be; results must be the same"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_heading, 0},
                                   TARGET_HOW(AT(t))};

static int parse(int argc, char **argv, check_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int c;

    *o = (check_options){
        .checks = "default", .max_findings = 100, .n_random = 4};
    target_init(&o->t);
    c = cli_parse(&cli_check, o, &line, a);
    c = c ? c : target_check(&o->t, &cli_check, line.words, line.n_words);
    if (!c && o->max_findings > UINT32_MAX)
        c = cli_usage(&cli_check, "--max-findings: at most %u", UINT32_MAX);
    if (!c && o->times && o->json)
        c = cli_usage(&cli_check, "--times and --json exclude each other");
    return c;
}

static vpu_status fill(void *user, vpu_graph *g, vpu_error *err)
{
    vpu_status st = target_graph_fill(user, g, err);

    return st ? st : target_graph_check_inputs(user, err);
}

static vpu_status print(const check_options *o, vpu_findings *f, vpu_error *err)
{
    const char *text = o->json ? vpu_findings_json(f) : vpu_findings_report(f);
    const char *sarif = o->sarif ? vpu_findings_sarif(f) : NULL;
    vpu_status st = VPU_OK;

    if (!text || (o->sarif && !sarif))
        return err_set(err, VPU_ERR_NOMEM, "no memory for the findings");
    if (o->sarif)
        st = file_write(o->sarif, sarif, strlen(sarif), err);
    cli_progress_done();
    if (!st && o->json)
        ending_print(text, strlen(text));
    else if (!st)
        cli_put_shown(stdout, text, strlen(text));
    return st;
}

static vpu_status run(const check_options *o, arena *a, vpu_findings **out,
                      vpu_error *err)
{
    const target_words words = target_words_of(&o->t, "sim");
    target_graph t;
    const vpu_check_options options = {
        .struct_size = sizeof options,
        .checks = o->checks,
        .max_findings =
            o->max_findings ? (uint32_t)o->max_findings : UINT32_MAX,
        .orders = o->orders,
        .random_orders = o->n_random,
        .strict_align = o->strict_align,
        .suppress = o->suppress,
        .fill = fill,
        .user = &t};
    vpu_status st = target_graph_open(&o->t, &words, a, &t, err);

    if (!st)
        st = vpu_graph_check(out, t.graph, &options, err);
    target_graph_close(&t);
    if (!st)
        st = print(o, *out, err);
    if (!st)
        cli_tell_hints();
    return st;
}

static int check_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    check_options o;
    vpu_findings *found = NULL;
    vpu_error err = {0};
    int rc = parse(argc, argv, &o, a);

    if (!rc && run(&o, a, &found, &err))
        rc = cli_fail(&err);
    if (!rc && o.times)
        printf("seconds %.6f launches %.6f\n", vpu_findings_seconds(found),
               vpu_findings_launch_seconds(found));
    if (!rc && vpu_findings_error_count(found))
        rc = CLI_DIFFERS;
    vpu_findings_free(found);
    arena_destroy(a);
    return rc;
}

const cli_command cli_check = {
    .name = "check",
    .summary = "find what a layer's kernels do wrong",
    .head =
        "usage: vpu check LAYER.xml [OPTIONS]\n\n"
        "Runs a layer and looks at everything its kernels do: accesses outside their\n"
        "buffers and arrays, values nobody wrote, races between work-items and between\n"
        "work-groups, barriers not all reach, transfers used before they are waited\n"
        "for, and more. Exit status: 0 nothing found, 1 findings, 2 and above it could\n"
        "not be looked for (vpu run --help has the list).\n"
        "docs/check.md describes each checker.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Examples:\n"
        "  vpu check kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 --param bias=1.0\n"
        "  vpu check layer.xml --model net.xml --checks bounds,race --sarif check.sarif\n",
    .main = check_main};
