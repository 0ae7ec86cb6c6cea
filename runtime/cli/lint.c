/* vpu lint: what can be said of a binding and its kernels without a run. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/advice/advice.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/target.h"
#include "runtime/lint/lint.h"

typedef struct {
    target_options t;
    const char *checks, *sarif;
    bool json;
} lint_options;

#define AT(field) offsetof(lint_options, field)

static const cli_option rows[] = {
    {"checks", "LIST", OPTION_TEXT, AT(checks), .offer = offers_findings,
     .help = "all (default), none, or some, comma-separated:"
#define CHECK(id, name, summary, tip) " " name
#include "runtime/lint/checks.def"
#undef CHECK
    },
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the findings as JSON"},
    {"sarif", "FILE", OPTION_NAME, AT(sarif),
     .help = "write them as SARIF 2.1.0, too"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_machine_options, AT(t)},
                                   {&cli_compile_options, AT(t.compile)},
                                   {&target_cache_options, AT(t)},
                                   {&target_quiet_options, AT(t)}};

static int parse(options_line *line, lint_options *o, arena *a)
{
    int rc;

    *o = (lint_options){.checks = "all"};
    target_init(&o->t);
    rc = cli_parse(&cli_lint, o, line, a);
    /* What follows the binding file are kernels. */
    if (!rc)
        rc = target_check(&o->t, &cli_lint, line->words, line->n_words > 0);
    if (!rc && (o->t.params.n || o->t.blobs.n) && !o->t.shapes.n && !o->t.model)
        rc = cli_usage(&cli_lint,
                       "--param and --blob are for sizes: give --shape, too");
    return rc;
}

/* The binding file; with shapes or a model, bound. */
static vpu_status bind(const lint_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err)
{
    const graph_layer_texts texts = target_texts(&o->t);
    vpu_status st;

    if (o->t.shapes.n || o->t.model)
        return target_bind(&o->t, a, log, t, err);
    st = mach_desc_load(o->t.machine, a, &t->desc, err);
    for (uint32_t i = 0; i < o->t.sets.n && !st; i++)
        st = mach_desc_set(&t->desc, a, o->t.sets.items[i], err);
    if (!st)
        st = graph_layer_read(&texts, a, log, &t->layer.binding, err);
    for (size_t i = 0; i < t->layer.binding.n_layers && !st; i++)
        if (!o->t.layer ||
            config_layer_is_for(&t->layer.binding.layers[i], o->t.layer))
            config_layer_tell(&t->layer.binding.layers[i], log);
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
        lint_print_json(r, o->t.bindings[0], &text);
    else
        lint_print_text(r, o->t.bindings[0], a, &text);
    if (!st && o->json)
        ending_print(str_text(&text), text.n);
    else if (!st)
        cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
    str_free(&sarif);
    return st;
}

/* --- what a run shows ------------------------------------------------------ */

/* Share of the layer's cycles that a finding saves: more than a report asks
 * for, as a finding fails a build. */
#define WORTH_A_FINDING 0.1

enum { STEPS_BYTES = 64 << 20 };

typedef struct {
    const target_options *o;
    const target *t;
    const log_sink *log;
    arena *a;
    lint_config *to;
} measuring;

/* At its line, else where the binding has the stage. */
static lint_finding finding_of(const measuring *m, const advice_finding *f)
{
    const graph_launch *l = &m->t->graph->launches[f->launch];
    double gain = (double)(f->before - f->after);

    return (lint_finding){
        .check = LINT_ADVICE,
        .path = f->line ? f->file : l->file,
        .line = f->line ? f->line : l->line,
        .text = arena_printf(
            m->a,
            "%s: about %.3f of %.3f ms (%.0f %%) less "
            "with --knob %s: %s",
            l->name, mach_desc_seconds(&m->t->desc, f->before - f->after) * 1e3,
            mach_desc_seconds(&m->t->desc, f->before) * 1e3,
            100 * gain / (double)f->before, f->knob, f->text)};
}

static void add_measured(measuring *m, const advice_findings *found,
                         uint64_t total)
{
    lint_finding *list = arena_array(m->a, lint_finding, ADVICE_MAX);

    m->to->measured = list;
    for (uint32_t i = 0; i < found->n; i++) {
        const advice_finding *f = &found->list[i];

        if ((double)(f->before - f->after) >= WORTH_A_FINDING * (double)total)
            list[m->to->n_measured++] = finding_of(m, f);
    }
}

static vpu_status measure_open(measuring *m, const backend *b, vpu_error *err)
{
    advice_findings found;
    uint64_t total = 0;
    vpu_status st = target_fill_all(m->o, m->t, b, m->a, err);

    b->ops->observe->keep_steps(b->self, STEPS_BYTES);
    if (!st)
        st = backend_run_all(b, m->t->graph, err);
    if (!st)
        st = advice_of(m->t->graph, b, &m->t->desc, m->a, &found, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < m->t->graph->n_launches; i++)
        total += backend_launch_of(b, i)->exec.profile.cycles;
    add_measured(m, &found, total);
    return VPU_OK;
}

/* The layer, run once. What keeps it from running is no finding of this check,
 * and is only noted. */
static void measure(measuring *m)
{
    backend_config run = target_backend(m->o, m->t);
    const backend_ops *ops =
        backend_offering(BACKEND_MACHINE | BACKEND_OBSERVE);
    backend b = {0};
    vpu_error err;
    vpu_status st;

    run.device = "";
    st = backend_open(ops, &run, m->t->graph, &b, &err);
    if (!st)
        st = measure_open(m, &b, &err);
    backend_close(&b);
    if (st)
        log_note(m->log, "no advice, since the layer does not run: %s",
                 err.msg);
}

/* sources: what follows the binding file. */
static vpu_status run(const lint_options *o, char *const *sources, int n,
                      arena *a, lint_result *r, vpu_error *err)
{
    log_sink log = cli_log(o->t.quiet);
    target t = {0};
    lint_config cfg = {.layer = o->t.layer,
                       .sources = (const char *const *)sources,
                       .n_sources = (uint32_t)n,
                       .source_dir = o->t.source_dir,
                       .options = o->t.clang.items,
                       .n_options = o->t.clang.n,
                       .limits = &o->t.compile,
                       .no_cache = o->t.no_cache,
                       .log = &log};
    vpu_status st = lint_checks_parse(o->checks, &cfg.checks, err);

    if (!st)
        st = bind(o, a, &log, &t, err);
    cfg.binding = &t.layer.binding;
    cfg.graph = t.graph;
    cfg.local_budget = t.desc.ocl_local_budget;
    if (!st && t.graph && cfg.checks >> LINT_ADVICE & 1)
        measure(&(measuring){&o->t, &t, &log, a, &cfg});
    if (!st)
        st = lint_run(&cfg, a, r, err);
    return st;
}

static int lint_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    lint_options o;
    lint_result r = {0};
    options_line line = {.argc = argc, .argv = argv};
    vpu_error err = {0};
    int rc = parse(&line, &o, a);

    if (!rc && run(&o, line.words + 1, line.n_words - 1, a, &r, &err))
        rc = cli_fail(&err);
    if (!rc && print(&o, &r, a, &err))
        rc = cli_fail(&err);
    if (!rc && r.n_findings)
        rc = CLI_DIFFERS;
    arena_destroy(a);
    return rc;
}

const cli_command cli_lint = {
    .name = "lint",
    .summary = "check a binding and its kernels without a run",
    .head =
        "usage: vpu lint LAYER.xml [KERNEL.cl ...] [OPTIONS]\n\n"
        "Looks at a binding file and its kernels: bindings against the kernels'\n"
        "signatures, work sizes and local memory against the device, and what the\n"
        "vendor's guide warns of; with sizes, also at what one simulated run shows. KERNEL.cl is taken instead of\n"
        "the file of that name the binding has. Exit status: 0 nothing found, 1\n"
        "findings, 2 bad input. docs/lint.md describes each check.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "With --shape or --model sizes are known, too; without, only those that are\n"
        "constant in the file.\n\n"
        "Examples:\n"
        "  vpu lint kernels/grn/layer.xml\n"
        "  vpu lint layer.xml --shape in0=1x16x256x512 --param bias=1.0\n"
        "  vpu lint layer.xml draft/grn.cl --checks missing-restrict,unroll\n",
    .main = lint_main};
