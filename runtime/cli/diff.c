/* vpu diff: a layer on two backends, and whether they agree. */
#include "runtime/cli/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/target_graph.h"

enum { MAX_RULES = 64 };

typedef struct {
    target_options t;
    const char *a, *b, *b_layer, *heat_map, *junit;
    cli_limit limit;
    uint64_t cycle_budget;
    uint32_t b_binding; /* 0 = as side a */
    const char *tolerances[MAX_RULES];
    uint32_t n_tolerances;
    bool outputs_only, no_groups, verbose, json;
} diff_options;

static bool take_rule(void *fields, const char *value, arena *a)
{
    diff_options *o = fields;
    vpu_error err;

    (void)a;
    if (o->n_tolerances == MAX_RULES)
        return false;
    if (vpu_diff_check_tolerance(value, &err)) {
        cli_fail(&err);
        return false;
    }
    o->tolerances[o->n_tolerances++] = value;
    return true;
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
    {"a", "ID", OPTION_NAME, AT(a), .offer = offers_devices,
     .help =
         "what is compared (default sim; see vpu devices): sim, "
         "opencl[:P:D], host:PLUGIN.so, replay:FILE, npy:DIR, usb[:BUS-PORT], "
         "usb:unix:PATH, usb:tcp:ADDRESS:PORT"},
    {"b", "ID", OPTION_NAME, AT(b), .offer = offers_devices,
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
    {"cycle-budget", "N", OPTION_NUMBER, AT(cycle_budget),
     .help = "a may take N cycles at most, in all (0 = any number)"},
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

/* --- running ------------------------------------------------------------- */

typedef struct {
    diff_options o;
    arena *a;
    target_options options[2]; /* of the sides */
    target_graph sides[2];
} session;

void cli_print_aside(void *user, const char *text, size_t n)
{
    (void)user;
    cli_progress_done();
    cli_put(stderr, text, n);
}

static vpu_status tell(const session *s, vpu_diff *d, vpu_error *err)
{
    const char *text = s->o.json ? vpu_diff_json(d) : vpu_diff_text(d);
    const char *junit = s->o.junit ? vpu_diff_junit(d) : NULL;
    vpu_status st = VPU_OK;

    if (!text || (s->o.junit && !junit))
        return err_set(err, VPU_ERR_NOMEM, "no memory for the report");
    if (s->o.junit)
        st = file_write(s->o.junit, junit, strlen(junit), err);
    cli_progress_done();
    fputs(text, stdout);
    return st;
}

/* Side b may have a binding of its own; a parameter is one of the two then. */
static bool describe_sides(session *s)
{
    target_options *a = &s->options[0], *b = &s->options[1];
    bool apart = s->o.b_layer || s->o.b_binding;

    *a = s->o.t;
    a->only_type = s->o.b_layer != NULL;
    *b = *a;
    if (s->o.b_layer) {
        const char **files =
            arena_memdup(s->a, b->bindings, b->n_bindings * sizeof *files);

        files[0] = s->o.b_layer;
        b->bindings = files;
    }
    if (s->o.b_binding)
        b->binding = s->o.b_binding;
    return apart;
}

static vpu_status check_params(const session *s, vpu_error *err)
{
    const options_list *params = &s->o.t.params;
    vpu_status st = VPU_OK;

    if (s->o.t.offered & BACKEND_PARAMS)
        return VPU_OK;
    for (uint32_t p = 0; p < params->n && !st; p++)
        for (int k = 0; k < 2; k++) {
            const char *text = params->items[p];

            st = vpu_operation_check_params(s->sides[k].layer, &text, 1, err);
            if (!st)
                break;
        }
    return st;
}

static vpu_status open_sides(session *s, vpu_error *err)
{
    bool apart = describe_sides(s);
    vpu_status st = VPU_OK;

    for (int k = 0; k < 2 && !st; k++) {
        target_words w = target_words_of(&s->options[k], k ? s->o.b : s->o.a);

        w.context.print = cli_print_aside;
        w.layer.any_params |= apart;
        st = target_graph_open(&s->options[k], &w, s->a, &s->sides[k], err);
    }
    if (!st && apart)
        st = check_params(s, err);
    for (int k = 0; k < 2 && !st; k++) {
        st = target_graph_check_inputs(&s->sides[k], err);
        if (!st)
            st = target_graph_fill(&s->sides[k], s->sides[k].graph, err);
    }
    return st;
}

static vpu_status run(session *s, vpu_diff **d, vpu_error *err)
{
    const vpu_diff_options options = {.struct_size = sizeof options,
                                      .tolerances = s->o.tolerances,
                                      .n_tolerances = s->o.n_tolerances,
                                      .outputs_only = s->o.outputs_only,
                                      .heat_map = s->o.heat_map,
                                      .max_slowdown = s->o.limit.times,
                                      .slowdown_if_known = s->o.limit.if_known,
                                      .cycle_budget = s->o.cycle_budget,
                                      .no_groups = s->o.no_groups,
                                      .verbose = s->o.verbose};
    vpu_status st = open_sides(s, err);

    if (!st)
        st = vpu_diff_create(d, s->sides[0].graph, s->sides[1].graph, &options,
                             err);
    for (int k = 0; k < 2; k++)
        target_graph_close(&s->sides[k]);
    return st ? st : tell(s, *d, err);
}

static int diff_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_diff *d = NULL;
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc && run(&s, &d, &err))
        rc = cli_fail(&err);
    if (!rc && (!vpu_diff_equal(d) || vpu_diff_too_slow(d)))
        rc = CLI_DIFFERS;
    vpu_diff_free(d);
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
