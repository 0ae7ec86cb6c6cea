/* vpu whatif: what a layer would take on another machine. */
#include "runtime/whatif/whatif.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cli/ending.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"

typedef struct {
    target_options t;
    options_list knobs;
    uint32_t steps, lines;
    bool list, json;
} whatif_options;

#define AT(field) offsetof(whatif_options, field)

enum { STEPS = 4 };

static bool take_steps(void *fields, const char *value, arena *a)
{
    unsigned long long n;

    (void)a;
    if (!str_to_u64(value, &n) || n > WHATIF_MAX_KNOBS)
        return false;
    ((whatif_options *)fields)->steps = (uint32_t)n;
    return true;
}

static const cli_option rows[] = {
    {"knob", "NAME|KEY=VALUE[,…]", OPTION_LIST, AT(knobs),
     .help = "what is changed, at once: names of the list, parameters of the "
             "machine (vpu machine), shaves=N, local=XxYxZ, issue= or "
             "stall=[FILE:]LINE*FACTOR, what is left of a source line's "
             "cycles; may be given several times; default: all of the list"},
    {"steps", "N", OPTION_OTHER, .take = take_steps,
     .help = "changes one upon another, those that save most first (default "
             "4, 0: none)"},
    {"lines", "N", OPTION_COUNT, AT(lines),
     .help = "and the N source lines with most cycles, without their issue "
             "cycles or stalls, and with half of them; counted on the "
             "interpreter"},
    {"list", NULL, OPTION_FLAG, AT(list),
     .help = "the changes there are, as --knob takes them, and run nothing"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the answers as JSON"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_heading, 0},
                                   TARGET_HOW(AT(t))};

static int parse(int argc, char **argv, whatif_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    *o = (whatif_options){.steps = STEPS};
    target_init(&o->t);
    rc = cli_parse(&cli_whatif, o, &line, a);
    rc = rc || o->list
             ? rc
             : target_check(&o->t, &cli_whatif, line.words, line.n_words);
    o->t.offered = backend_extras(backend_offering(BACKEND_MACHINE));
    if (!rc && o->t.how.timing == EXEC_NO_TIMING)
        rc = cli_usage(&cli_whatif, "--timing none leaves no cycles to ask "
                                    "about");
    return rc;
}

/* --- the work ------------------------------------------------------------- */

typedef struct {
    whatif_options o;
    arena *a;
    log_sink log;
    target t;
    whatif_report report;
} session;

static vpu_status fill(void *user, const backend *b, vpu_error *err)
{
    const session *s = user;
    vpu_status st = target_fill_all(&s->o.t, &s->t, b, s->a, err);

    return st ? st : target_check_inputs(&s->o.t, &s->t, s->a, err);
}

/* For the machine and the SHAVEs that the options describe. */
static const whatif_knob *knobs_of(const session *s, size_t *n)
{
    const mach_desc *desc = &s->t.desc;
    uint32_t shaves = s->o.t.how.n_shaves;

    return whatif_knobs(desc, shaves ? shaves : (uint32_t)desc->num_shaves,
                        s->a, n);
}

static vpu_status take_knobs(session *s, whatif_config *cfg, vpu_error *err)
{
    size_t n;
    const whatif_knob *known = knobs_of(s, &n);
    whatif_knob *own = arena_array(s->a, whatif_knob, s->o.knobs.n + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < s->o.knobs.n && !st; i++)
        st = whatif_knob_parse(s->o.knobs.items[i], &s->t.desc, known, n, s->a,
                               &own[i], err);
    cfg->knobs = s->o.knobs.n ? own : known;
    cfg->n_knobs = s->o.knobs.n ? s->o.knobs.n : n;
    if (!st && s->o.lines)
        st = whatif_line_knobs(cfg, s->t.graph, s->o.lines, s->a, &cfg->knobs,
                               &cfg->n_knobs, err);
    return st;
}

static vpu_status ask(session *s, vpu_error *err)
{
    whatif_config cfg = {
        .ops = backend_offering(BACKEND_MACHINE | BACKEND_OBSERVE),
        .run = target_backend(&s->o.t, &s->t),
        .max_steps = s->o.steps,
        .fill = fill,
        .fill_user = s};
    vpu_status st;

    cfg.run.device = "";
    cfg.run.log = &s->log;
    st = take_knobs(s, &cfg, err);
    return st ? st : whatif_ask(&cfg, s->t.graph, s->a, &s->report, err);
}

/* --- what it says --------------------------------------------------------- */

static double ms_of(const session *s, uint64_t cycles)
{
    return mach_desc_seconds(&s->t.desc, cycles) * 1e3;
}

static double times(const session *s, uint64_t cycles)
{
    return cycles ? (double)s->report.before.cycles / (double)cycles : 1;
}

static double share(const whatif_outcome *x, mach_cause c)
{
    return x->shave_cycles
               ? 100 * (double)x->causes[c] / (double)x->shave_cycles
               : 0;
}

/* ", in 32 work-groups" of an edit that applies to one launch and cuts it
 * anew. */
static void print_groups(const session *s, const whatif_row *r, str *out)
{
    const whatif_outcome *x = &r->outcome;
    uint64_t n = 0;

    if (!whatif_edit_cuts(r->knob->edit))
        return;
    for (uint32_t i = 0; i < s->t.graph->n_launches && x->groups; i++) {
        if (x->groups[i] == UINT64_MAX)
            continue;
        if (n || !x->groups[i])
            return;
        n = x->groups[i];
    }
    if (n)
        str_printf(out, ", in %" PRIu64 " work-groups", n);
}

static void print_row(const session *s, const char *front, const whatif_row *r,
                      str *out)
{
    const whatif_outcome *x = &r->outcome;
    mach_cause c = whatif_main_cause(x);

    str_printf(out, "%-2s%-24s %13" PRIu64 " %10.3f %7.2f  %s %.0f %%%s%s",
               front, r->knob->name, x->cycles, ms_of(s, x->cycles),
               times(s, x->cycles), mach_cause_name(c), share(x, c),
               *r->knob->about ? "  " : "", r->knob->about);
    print_groups(s, r, out);
    str_puts(out, "\n");
}

static const whatif_row *row_of(const session *s, const char *knob)
{
    for (size_t i = 0; i < s->report.n_rows; i++)
        if (!strcmp(s->report.rows[i].knob->name, knob))
            return &s->report.rows[i];
    return NULL;
}

/* Where fewer SHAVEs are faster: what that has to do with. */
static void print_crowds(const session *s, str *out)
{
    static const char *const causes[] = {"banks", "l2-sets"};
    uint64_t before = s->report.before.cycles;
    const whatif_row *fewer = NULL;

    for (size_t i = 0; i < s->report.n_rows && !fewer; i++)
        if (s->report.rows[i].knob->shaves)
            fewer = &s->report.rows[i];
    if (!fewer || fewer->outcome.cycles >= before)
        return;
    str_printf(out,
               "%s is faster than more SHAVEs, which are in each other's "
               "way",
               fewer->knob->name);
    for (size_t k = 0; k < sizeof causes / sizeof *causes; k++) {
        const whatif_row *r = row_of(s, causes[k]);

        if (r && r->outcome.cycles < before)
            str_printf(out, "; %s alone would save %.0f %%", causes[k],
                       100 * (double)(before - r->outcome.cycles) /
                           (double)before);
    }
    str_puts(out, " (vpu run names the addresses)\n");
}

static void print_text(const session *s, str *out)
{
    const whatif_outcome *x = &s->report.before;
    mach_cause c = whatif_main_cause(x);

    str_printf(out,
               "layer %s: %" PRIu64 " cycles (%.3f ms), of the SHAVEs' time "
               "%.0f %% %s\n",
               s->t.graph->layer, x->cycles, ms_of(s, x->cycles), share(x, c),
               mach_cause_name(c));
    str_printf(out, "%-26s %13s %10s %7s  then\n", "what if", "cycles", "ms",
               "times");
    for (size_t i = 0; i < s->report.n_rows; i++)
        print_row(s, "", &s->report.rows[i], out);
    print_crowds(s, out);
    if (s->report.n_steps > 1)
        str_puts(out, "one upon another\n");
    for (size_t i = 0; i < s->report.n_steps && s->report.n_steps > 1; i++)
        print_row(s, i ? "+" : "", &s->report.steps[i], out);
}

static json_t *json_outcome(const session *s, const whatif_outcome *x)
{
    json_t *causes = json_object(), *launches = json_array();

    for (int c = 0; c < MACH_N_CAUSES; c++)
        if (x->causes[c])
            json_object_set_new(causes, mach_cause_name((mach_cause)c),
                                json_integer((json_int_t)x->causes[c]));
    for (uint32_t i = 0; i < s->t.graph->n_launches; i++)
        json_array_append_new(
            launches, json_pack("{s:o, s:I}", "name",
                                jsontext_string(s->t.graph->launches[i].name),
                                "cycles", (json_int_t)x->launches[i]));
    return json_pack("{s:I, s:f, s:f, s:b, s:o, s:o}", "cycles",
                     (json_int_t)x->cycles, "ms", ms_of(s, x->cycles), "times",
                     times(s, x->cycles), "replayed", x->replayed,
                     "shave_cycles_by_cause", causes, "launches", launches);
}

static json_t *json_rows(const session *s, const whatif_row *of, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *j = json_outcome(s, &of[i].outcome);

        json_object_set_new(j, "knob", jsontext_string(of[i].knob->name));
        json_object_set_new(j, "about", jsontext_string(of[i].knob->about));
        json_array_append_new(list, j);
    }
    return list;
}

/* Of the machine that the options describe. */
static vpu_status list_knobs(session *s, vpu_error *err)
{
    const target_options *t = &s->o.t;
    str out = {0};
    size_t n;
    const whatif_knob *k;
    vpu_status st = backend_machine(t->machine, t->sets.items, t->sets.n,
                                    t->how.n_shaves, s->a, &s->t.desc, err);

    if (st)
        return st;
    k = knobs_of(s, &n);
    for (size_t i = 0; i < n; i++) {
        str_printf(&out, "%-14s %s\n", k[i].name, k[i].about);
        for (uint32_t x = 0; x < k[i].n_settings; x++)
            str_printf(&out, "%s%s%s", x ? "," : "               ",
                       k[i].settings[x], x + 1 == k[i].n_settings ? "\n" : "");
    }
    cli_put_shown(stdout, str_text(&out), out.n);
    str_free(&out);
    return VPU_OK;
}

static void show(const session *s)
{
    const whatif_report *r = &s->report;
    str text = {0};

    cli_progress_done();
    print_text(s, &text);
    if (s->o.json)
        cli_put_json(json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "layer",
                               jsontext_string(s->t.graph->layer), "runs",
                               (json_int_t)r->runs, "replays",
                               (json_int_t)r->replays, "before",
                               json_outcome(s, &r->before), "knobs",
                               json_rows(s, r->rows, r->n_rows), "steps",
                               json_rows(s, r->steps, r->n_steps)),
                     JSONTEXT_EXACT);
    else
        cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
}

static vpu_status answer(session *s, vpu_error *err)
{
    vpu_status st;

    if (s->o.list)
        return list_knobs(s, err);
    st = target_bind(&s->o.t, s->a, &s->log, &s->t, err);
    if (!st)
        st = ask(s, err);
    if (!st)
        show(s);
    return st;
}

static int whatif_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc) {
        vpu_status st;

        s.log = cli_log(s.o.t.quiet);
        st = answer(&s, &err);
        rc = st ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_whatif = {
    .name = "whatif",
    .summary = "tell what a layer would take on another machine",
    .head =
        "usage: vpu whatif LAYER.xml [OPTIONS]\n\n"
        "Runs a layer on machines that lack one cost each (latency, bandwidth, dispatch),\n"
        "on other numbers of SHAVEs and with the last work-group first, and sorts them by\n"
        "the cycles that are left: what saves little there is not worth a change. Then\n"
        "the changes that save most, one upon another; gains do not add up. Every number\n"
        "is that of a whole run. docs/whatif.md tells how to read them.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n" STOP_HELP "\n"
        "Examples:\n"
        "  vpu whatif kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 \\\n"
        "      --param bias=1.0\n"
        "  vpu whatif layer.xml --knob shaves=7 --knob ddr_eff_bw=10 --steps 0\n",
    .main = whatif_main};
