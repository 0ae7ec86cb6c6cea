/* vpu diff: a layer on two backends, and whether they agree. */
#include "runtime/cli/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/diff/diff.h"
#include "runtime/diff/report.h"

static const char help[] =
    "usage: vpu diff LAYER.xml --b ID [OPTIONS]\n\n"
    "Runs a layer on two backends with the same inputs and says whether they\n"
    "agree, where not, by how much, and who wrote it. b is what should be.\n\n"
    "  --a ID, --b ID          backends (see vpu devices; a is sim by "
    "default):\n"
    "                          sim, opencl[:P:D], host:PLUGIN.so, "
    "replay:FILE,\n"
    "                          usb[:BUS-PORT], usb:unix:PATH, "
    "usb:tcp:ADDRESS:PORT\n"
    "  --tolerance [OUT=]SPEC  how far elements may be apart: exact (default), "
    "or\n"
    "                          any of ulp=N,abs=X,rel=X, of which one must "
    "hold;\n"
    "                          nan=any|bits|never (default any), "
    "zero=signed|equal\n"
    "                          (-0 and 0; default signed); mvnc: instead, the\n"
    "                          limits of mvNCCheck. For one output: "
    "out0=ulp=2\n"
    "  --outputs-only          do not compare what passes between stages\n"
    "  --no-groups             do not look for the work-groups that wrote "
    "what\n"
    "                          differs (which takes a run more)\n"
    "  --heat-map FILE.png     a picture of the first tensor that differs\n"
    "  --report text|json      on standard output (default text)\n"
    "  --junit FILE            the result for CI\n"
    "  --verbose               figures of tensors that agree, "
    "too\n" TARGET_HELP_LAYER "How it runs (machine, order and so on are of "
    "the simulator):\n" TARGET_HELP_RUN "\n"
    "Exit status: 0 they agree, 1 they do not, 2 and above it could not be "
    "found\n"
    "out (vpu run --help says why).\n\n"
    "Examples:\n"
    "  vpu diff kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 \\\n"
    "      --param bias=1.0 --b host:build/plugins/grn.so\n"
    "  vpu diff layer.xml --shape in0=1x3x64x64 --b opencl --tolerance "
    "rel=2e-3,abs=1e-3\n"
    "  vpu diff layer.xml --shape in0=1x3x64x64 --b replay:stick.vpurec\n";

enum { MAX_RULES = 64 };

typedef struct {
    target_options t;
    const char *a, *b, *heat_map, *report, *junit;
    diff_rule rules[MAX_RULES];
    uint32_t n_rules;
    bool outputs_only, no_groups, verbose;
} diff_options;

enum {
    OPT_A = TARGET_OWN,
    OPT_B,
    OPT_TOLERANCE,
    OPT_OUTPUTS_ONLY,
    OPT_NO_GROUPS,
    OPT_HEAT_MAP,
    OPT_REPORT,
    OPT_JUNIT,
    OPT_VERBOSE
};

static const struct option long_options[] = {
    TARGET_LONG,
    {"a", required_argument, NULL, OPT_A},
    {"b", required_argument, NULL, OPT_B},
    {"tolerance", required_argument, NULL, OPT_TOLERANCE},
    {"outputs-only", no_argument, NULL, OPT_OUTPUTS_ONLY},
    {"no-groups", no_argument, NULL, OPT_NO_GROUPS},
    {"heat-map", required_argument, NULL, OPT_HEAT_MAP},
    {"report", required_argument, NULL, OPT_REPORT},
    {"junit", required_argument, NULL, OPT_JUNIT},
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {NULL, 0, NULL, 0}};

int cli_diff_own_option(const char *word)
{
    if (strncmp(word, "--", 2))
        return 0;
    for (const struct option *o = long_options; o->name; o++) {
        size_t n = strlen(o->name);

        if (o->val < TARGET_OWN || strncmp(word + 2, o->name, n))
            continue;
        if (word[2 + n] == '=')
            return 1;
        if (!word[2 + n])
            return o->has_arg == required_argument ? 2 : 1;
    }
    return 0;
}

/* "[OUT=]SPEC": an output's name is followed by '=' and is no word of a
 * tolerance. */
static bool parse_rule(diff_options *o, const char *text, arena *a)
{
    static const char *const words[] = {"ulp", "abs", "rel", "nan", "zero"};
    const char *eq = strchr(text, '=');
    diff_rule *rule = &o->rules[o->n_rules];
    size_t n = eq ? (size_t)(eq - text) : 0;
    vpu_error err;

    if (o->n_rules == MAX_RULES)
        return false;
    *rule = (diff_rule){0};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (n == strlen(words[k]) && !strncmp(text, words[k], n))
            n = 0;
    if (n && !memchr(text, ',', n)) {
        rule->output = arena_strndup(a, text, n);
        text = eq + 1;
    }
    o->n_rules++;
    if (!diff_tolerance_parse(text, &rule->tolerance, &err))
        return true;
    cli_fail(&err);
    return false;
}

static bool apply(diff_options *o, int c, arena *a)
{
    switch (c) {
    case OPT_A:
        o->a = optarg;
        return *optarg;
    case OPT_B:
        o->b = optarg;
        return *optarg;
    case OPT_TOLERANCE:
        return parse_rule(o, optarg, a);
    case OPT_OUTPUTS_ONLY:
        return o->outputs_only = true;
    case OPT_NO_GROUPS:
        return o->no_groups = true;
    case OPT_HEAT_MAP:
        o->heat_map = optarg;
        return true;
    case OPT_REPORT:
        o->report = optarg;
        return !strcmp(optarg, "text") || !strcmp(optarg, "json");
    case OPT_JUNIT:
        o->junit = optarg;
        return true;
    case OPT_VERBOSE:
        return o->verbose = true;
    default:
        return target_option(&o->t, c, optarg, a);
    }
}

static int parse(int argc, char **argv, diff_options *o, arena *a)
{
    int c, which = 0;

    *o = (diff_options){.a = "sim", .report = "text"};
    target_init(&o->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT, long_options, &which)) !=
           -1) {
        if (c == '?')
            return cli_usage(&cli_diff, "bad command line");
        if (!apply(o, c, a))
            return cli_usage(&cli_diff, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
    }
    if (!o->b)
        return cli_usage(&cli_diff, "--b says what to compare with");
    if (o->t.stick_only && strncmp(o->a, "usb", 3) && strncmp(o->b, "usb", 3))
        return cli_usage(&cli_diff,
                         "%s is about sticks, and neither side is "
                         "usb",
                         o->t.stick_only);
    if (o->t.sim_only && strcmp(o->a, "sim") && strcmp(o->b, "sim"))
        return cli_usage(&cli_diff,
                         "%s is about the simulator, and neither side is sim",
                         o->t.sim_only);
    return target_check(&o->t, &cli_diff, argc, argv);
}

vpu_status cli_make_inputs(const target_options *o, const target *t, arena *a,
                           void *const **inputs, vpu_error *err)
{
    const graph *g = t->g;
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
    target t;
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
    side->id = k ? s->o.b : s->o.a;
    s->cfg[k] = target_backend(&s->o.t, &s->t);
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
    if (!strcmp(s->o.report, "json"))
        diff_report_json(r, &out);
    else
        diff_report_text(r, s->o.verbose, &out);
    cli_progress_done();
    fputs(str_text(&out), stdout);
    str_free(&out);
    return st;
}

static vpu_status run(session *s, bool *equal, vpu_error *err)
{
    diff_side sides[2];
    diff_config cfg = {.rules = s->o.rules,
                       .n_rules = s->o.n_rules,
                       .outputs_only = s->o.outputs_only,
                       .no_groups = s->o.no_groups,
                       .heat_map = s->o.heat_map,
                       .run = &s->cfg[0]};
    diff_report r;
    vpu_status st = target_bind(&s->o.t, s->a, &s->log, &s->t, err);

    for (int k = 0; k < 2 && !st; k++)
        st = find_side(s, k, &sides[k], err);
    if (!st)
        st = cli_make_inputs(&s->o.t, &s->t, s->a, &cfg.inputs, err);
    if (!st)
        st = diff_run(s->t.g, &sides[0], &sides[1], &cfg, s->a, &r, err);
    if (!st)
        st = tell(s, &r, err);
    *equal = !st && r.equal;
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

const cli_command cli_diff = {"diff", "compare a layer on two backends", help,
                              diff_main};
