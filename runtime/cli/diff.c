/* vpu diff: a layer on two backends, and whether they agree. */
#include "runtime/cli/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/diff/diff.h"
#include "runtime/diff/report.h"

enum { MAX_RULES = 64 };

typedef struct {
    target_options t;
    const char *a, *b, *b_layer, *heat_map, *junit;
    cli_limit limit;
    uint32_t b_binding; /* 0 = as side a */
    diff_rule rules[MAX_RULES];
    uint32_t n_rules;
    bool outputs_only, no_groups, verbose, json;
} diff_options;

static bool take_rule(void *fields, const char *value, arena *a)
{
    diff_options *o = fields;
    vpu_error err;

    if (o->n_rules == MAX_RULES)
        return false;
    if (!diff_rule_parse(value, a, &o->rules[o->n_rules], &err)) {
        o->n_rules++;
        return true;
    }
    cli_fail(&err);
    return false;
}

/* "X" or "if-known:X". */
bool cli_take_limit(void *fields, const char *value, arena *a)
{
    cli_limit *limit = fields;
    static const char if_known[] = "if-known:";

    (void)a;
    limit->if_known = !strncmp(value, if_known, sizeof if_known - 1);
    value += limit->if_known ? sizeof if_known - 1 : 0;
    return str_to_f64(value, &limit->times) && limit->times > 0;
}

#define AT(field) offsetof(diff_options, field)

static const cli_option rows[] = {
    {"a", "ID", OPTION_NAME, AT(a),
     .help =
         "what is compared (default sim; see vpu devices): sim, "
         "opencl[:P:D], host:PLUGIN.so, replay:FILE, npy:DIR, usb[:BUS-PORT], "
         "usb:unix:PATH, usb:tcp:ADDRESS:PORT"},
    {"b", "ID", OPTION_NAME, AT(b),
     .help = "what should come out, likewise, or npy:DIR with a file NAME.npy "
             "for each output"},
    {"b-layer", "FILE.xml", OPTION_TEXT, AT(b_layer),
     .help = "another binding of the layer, with other kernels, for side b "
             "(--b is then sim when not given)"},
    {"b-binding", "N", OPTION_COUNT, AT(b_binding),
     .help = "as --binding, for side b alone"},
    {"max-slowdown", "X", OPTION_OTHER, AT(limit), .take = cli_take_limit,
     .help = "a may take X times the cycles of b at most, in all and in each "
             "stage; if-known:X where both sides count cycles"},
    {"tolerance", "[OUT=]SPEC", OPTION_OTHER, .take = take_rule,
     .help = "how far elements may be apart: exact (default), or any of "
             "ulp=N,abs=X,rel=X, of which one must hold; nan=any|bits|never "
             "(default any), zero=signed|equal (-0 and 0; default signed); "
             "mvnc: instead, the limits of mvNCCheck. For one output: "
             "out0=ulp=2"},
    {"outputs-only", NULL, OPTION_FLAG, AT(outputs_only),
     .help = "do not compare what passes between stages"},
    {"no-groups", NULL, OPTION_FLAG, AT(no_groups),
     .help = "do not look for the work-groups that wrote what differs (which "
             "takes a run more)"},
    {"heat-map", "FILE.png", OPTION_TEXT, AT(heat_map),
     .help = "a picture of the first tensor that differs"},
    {"json", NULL, OPTION_FLAG, AT(json),
     .help = "the report as JSON, on standard output"},
    {"report", "text|json", OPTION_OTHER, AT(json), .take = cli_take_report},
    {"junit", "FILE", OPTION_TEXT, AT(junit), .help = "the result for CI"},
    {"verbose", NULL, OPTION_FLAG, AT(verbose),
     .help = "figures of tensors that agree, too"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_backend_heading, 0},
                                   TARGET_HOW(AT(t)),
                                   {&target_recording_options, AT(t)},
                                   TARGET_STICK(AT(t))};

int cli_diff_own_option(const char *word)
{
    return options_words(rows, sizeof rows / sizeof *rows, word);
}

/* Both sides, and whether one of them takes what was given. */
static int check_sides(diff_options *o, const options_needs *needs)
{
    const backend_ops *ops[2];
    const char *device;
    vpu_error err;

    if (backend_find(o->a, &ops[0], &device, &err) ||
        backend_find(o->b, &ops[1], &device, &err))
        return cli_fail(&err);
    o->t.offered = backend_extras(ops[0]) | backend_extras(ops[1]);
    return cli_check_needs(&cli_diff, needs, ops, 2, "neither side is that");
}

static int parse(int argc, char **argv, diff_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int c;

    *o = (diff_options){.a = "sim"};
    target_init(&o->t);
    c = cli_parse(&cli_diff, o, &line, a);
    if (!c && !o->b && (o->b_layer || o->b_binding))
        o->b = "sim";
    if (!c && !o->b)
        c = cli_usage(&cli_diff, "--b says what to compare with");
    c = c ? c : target_check(&o->t, &cli_diff, line.words, line.n_words);
    return c ? c : check_sides(o, &line.needs);
}

vpu_status cli_make_inputs(const target_options *o, const target *t, arena *a,
                           void *const **inputs, vpu_error *err)
{
    const graph *g = t->graph;
    void **list = arena_array(a, void *, g->n_buffers + 1);
    vpu_status st = target_check_inputs(o, t, a, err);

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        void *data;

        if (g->buffers[i].role != GRAPH_INPUT)
            continue;
        data = arena_push(a, g->buffers[i].bytes, 1, 64);
        st = target_fill(o, &g->buffers[i], a, data, err);
        list[i] = data;
    }
    *inputs = list;
    return st;
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    diff_options o;
    arena *a;
    log_sink log;
    target targets[2];
    backend_config cfg[2];
} session;

void cli_print_aside(void *user, const char *text, size_t n)
{
    (void)user;
    cli_progress_done();
    cli_put(stderr, text, n);
}

static vpu_status find_side(session *s, int k, diff_side *side, vpu_error *err)
{
    const target *t = &s->targets[k];
    vpu_status st = cli_make_inputs(&s->o.t, t, s->a, &side->inputs, err);

    if (st)
        return st;
    side->id = k ? s->o.b : s->o.a;
    side->graph = t->graph;
    s->cfg[k] = target_backend(&s->o.t, t);
    s->cfg[k].log = &s->log;
    s->cfg[k].print = cli_print_aside;
    side->cfg = &s->cfg[k];
    return backend_find(side->id, &side->ops, &s->cfg[k].device, err);
}

static vpu_status tell(const session *s, const diff_report *r, vpu_error *err)
{
    str out = {0};
    vpu_status st = VPU_OK;

    if (s->o.junit) {
        diff_report_junit(r, &out);
        st = file_write(s->o.junit, out.data, out.n, err);
        str_free(&out);
    }
    if (s->o.json)
        diff_report_json(r, &out);
    else
        diff_report_text(r, s->o.verbose, &out);
    cli_progress_done();
    fputs(str_text(&out), stdout);
    str_free(&out);
    return st;
}

/* Both sides, each with its own binding. A parameter is one of the two. */
static vpu_status bind_sides(session *s, vpu_error *err)
{
    target_options both = s->o.t;
    target *const list[] = {&s->targets[0], &s->targets[1]};
    vpu_status st;

    if (!s->o.b_layer && !s->o.b_binding) {
        st = target_bind(&s->o.t, s->a, &s->log, &s->targets[0], err);
        s->targets[1] = s->targets[0];
        return st;
    }
    both.offered |= BACKEND_PARAMS;
    both.only_type = s->o.b_layer != NULL;
    st = target_bind(&both, s->a, &s->log, &s->targets[0], err);
    if (s->o.b_layer) {
        const char **files =
            arena_memdup(s->a, both.bindings, both.n_bindings * sizeof *files);

        files[0] = s->o.b_layer;
        both.bindings = files;
    }
    if (s->o.b_binding)
        both.binding = s->o.b_binding;
    if (!st)
        st = target_bind(&both, s->a, &s->log, &s->targets[1], err);
    return st ? st : target_check_params(&s->o.t, list, 2, s->a, err);
}

static vpu_status run(session *s, bool *equal, vpu_error *err)
{
    diff_side sides[2] = {{0}};
    diff_config cfg = {.max_slowdown = s->o.limit.times,
                       .slowdown_if_known = s->o.limit.if_known,
                       .rules = s->o.rules,
                       .n_rules = s->o.n_rules,
                       .outputs_only = s->o.outputs_only,
                       .no_groups = s->o.no_groups,
                       .heat_map = s->o.heat_map,
                       .run = &s->cfg[0]};
    diff_report r;
    vpu_status st = bind_sides(s, err);

    for (int k = 0; k < 2 && !st; k++)
        st = find_side(s, k, &sides[k], err);
    if (!st)
        st = diff_run(sides, &cfg, s->a, &r, err);
    if (!st)
        st = tell(s, &r, err);
    *equal = !st && r.equal && !r.too_slow;
    return st;
}

static int diff_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    bool equal;
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc) {
        s.log = cli_log(s.o.t.quiet);
        rc = run(&s, &equal, &err) ? cli_fail(&err)
             : equal               ? CLI_OK
                                   : CLI_DIFFERS;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_diff = {
    .name = "diff",
    .summary = "compare a layer on two backends",
    .head =
        "usage: vpu diff LAYER.xml --b ID [OPTIONS]\n\n"
        "Runs a layer on two backends with the same inputs and says whether they\n"
        "agree, where not, by how much, and who wrote it. b is what should be. With\n"
        "--b-layer b has kernels of its own: an optimised kernel against the one it\n"
        "replaces.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Exit status: 0 they agree, 1 they do not or a is too slow, 2 and above it could not be found\n"
        "out (vpu run --help says why).\n\n"
        "Examples:\n"
        "  vpu diff kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 \\\n"
        "      --param bias=1.0 --b host:build/plugins/grn.so\n"
        "  vpu diff layer.xml --shape in0=1x3x64x64 --b opencl --tolerance rel=2e-3,abs=1e-3\n"
        "  vpu diff layer.xml --shape in0=1x3x64x64 --b replay:stick.vpurec\n"
        "  vpu diff fast.xml --b-layer plain.xml --shape in0=1x3x64x64 --max-slowdown 0.8\n",
    .main = diff_main};
