/* vpu tune: the local sizes that make a layer fastest. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"
#include "runtime/tune/edit.h"
#include "runtime/tune/tune.h"

typedef struct {
    target_options t;
    const char *backend, *device, *file;
    const backend_ops *ops;
    int mode; /* a tune_mode less 1 */
    bool shaves_too, diff, write, json;
} tune_options;

#define AT(field) offsetof(tune_options, field)

static const cli_option rows[] = {
    {"mode", "rapid|normal|exhaustive", OPTION_CHOICE, AT(mode),
     .help = "which sizes are tried: a few, a tenth of all (default), all"},
    {"file", "FILE", OPTION_NAME, AT(file),
     .help = "tuned sizes: what is in it is not tuned again, what is found is "
             "added; made if there is none"},
    {"shaves-too", NULL, OPTION_FLAG, AT(shaves_too), .needs = BACKEND_MACHINE,
     .help = "with --mode exhaustive: each size with each number of SHAVEs"},
    {"diff", NULL, OPTION_FLAG, AT(diff),
     .help = "print what would change in the binding file"},
    {"write", NULL, OPTION_FLAG, AT(write),
     .help = "print it, and change the file: local of WorkSizes"},
    {"json", NULL, OPTION_FLAG, AT(json),
     .help = "the result as JSON, with every size that was tried"},
    {"backend", "ID", OPTION_NAME, AT(backend), .offer = offers_devices,
     .help = "what runs it: sim (default), or a device with a clock of its "
             "own, as opencl: there the median of five runs' seconds decides"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_heading, 0},
                                   TARGET_HOW(AT(t))};

static int check_backend(tune_options *o, const options_needs *needs, arena *a)
{
    vpu_error err;

    if (backend_find(o->backend, &o->ops, &o->device, &err))
        return cli_usage(&cli_tune, "--backend %s: %s", o->backend, err.msg);
    o->t.offered = backend_extras(o->ops);
    return cli_check_needs(
        &cli_tune, needs, &o->ops, 1,
        arena_printf(a, "not with --backend %s", o->backend));
}

static int parse(int argc, char **argv, tune_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    *o = (tune_options){.backend = "sim", .mode = TUNE_NORMAL - 1};
    target_init(&o->t);
    rc = cli_parse(&cli_tune, o, &line, a);
    rc = rc ? rc : target_check(&o->t, &cli_tune, line.words, line.n_words);
    rc = rc ? rc : check_backend(o, &line.needs, a);
    if (!rc && o->shaves_too && o->mode != TUNE_EXHAUSTIVE - 1)
        rc = cli_usage(&cli_tune, "--shaves-too needs --mode exhaustive");
    return rc;
}

/* --- the work ------------------------------------------------------------- */

typedef struct {
    tune_options o;
    arena *a;
    log_sink log;
    target t;
    tune_file file;
    tune_report report;
    tune_edits edits;
} session;

static vpu_status fill(void *user, const backend *b, vpu_error *err)
{
    const session *s = user;
    vpu_status st = target_fill_all(&s->o.t, &s->t, b, s->a, err);

    return st ? st : target_check_inputs(&s->o.t, &s->t, s->a, err);
}

static vpu_status tune(session *s, vpu_error *err)
{
    tune_config cfg = {.run = target_backend(&s->o.t, &s->t),
                       .ops = s->o.ops,
                       .mode = (tune_mode)(s->o.mode + 1),
                       .shaves_too = s->o.shaves_too,
                       .file = &s->file,
                       .file_arena = s->a,
                       .fill = fill,
                       .fill_user = s};
    vpu_status st = VPU_OK;

    cfg.run.device = s->o.device;
    cfg.run.log = &s->log;
    if (s->o.file && file_exists(s->o.file))
        st = tune_file_read(s->o.file, s->a, &s->file, err);
    if (!st)
        st = tune_graph(&cfg, s->t.graph, s->a, &s->report, err);
    if (!st && s->o.file)
        st = tune_file_write(&s->file, s->o.file, err);
    if (!st)
        st = tune_edits_make(&s->t.layer.binding, s->t.graph, &s->report, s->a,
                             &s->edits, err);
    return st;
}

/* --- what it says --------------------------------------------------------- */

static const char *size_text(arena *a, const uint32_t s[3])
{
    return arena_printf(a, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, s[0], s[1],
                        s[2]);
}

static const char *choice_text(arena *a, const tune_choice *x)
{
    const char *size = size_text(a, x->local);

    return x->shaves
               ? arena_printf(a, "%s on %" PRIu32 " SHAVEs", size, x->shaves)
               : size;
}

static void print_row(const session *s, const tune_row *r, str *out)
{
    const graph_launch *l = &s->t.graph->launches[r->launch];
    const char *unit = s->report.cycles ? "cycles" : "ns";

    str_printf(out, "%s: kernel %s, global %s\n", l->name, l->entry,
               size_text(s->a, l->global));
    if (r->known) {
        str_printf(out, "  local %-18s %12" PRIu64 " %s, %s\n",
                   choice_text(s->a, &r->best), r->cost_best, unit,
                   s->o.file ? arena_printf(s->a, "from %s", s->o.file)
                             : "as of an equal launch above");
        return;
    }
    str_printf(out, "  local %-18s %12" PRIu64 " %s, before\n",
               choice_text(s->a, &r->before), r->cost_before, unit);
    str_printf(
        out, "  local %-18s %12" PRIu64 " %s, tuned: %.2f times as fast\n",
        choice_text(s->a, &r->best), r->cost_best, unit,
        r->cost_best ? (double)r->cost_before / (double)r->cost_best : 1.0);
    str_printf(out, "  runs  %zu of %zu legal sizes", r->n_trials,
               r->n_candidates);
    for (int k = TUNE_OTHER_VALUES; k <= TUNE_OVER_LIMIT; k++) {
        size_t n = 0;

        for (size_t i = 0; i < r->n_trials; i++)
            n += r->trials[i].outcome == (tune_outcome)k;
        if (n)
            str_printf(out, ", %zu with %s", n,
                       tune_outcome_name((tune_outcome)k));
    }
    if (r->factor)
        str_printf(out, "; vectorized by %" PRIu32, r->factor);
    str_puts(out, "\n");
}

static void print_text(const session *s, str *out)
{
    if (!s->report.cycles)
        str_puts(out, "this device counts no cycles: the median of five runs' "
                      "seconds decides, and another run may decide "
                      "otherwise\n");
    for (uint32_t i = 0; i < s->report.n_rows; i++)
        print_row(s, &s->report.rows[i], out);
    if (!s->o.diff && !s->o.write)
        return;
    tune_edits_diff(&s->edits, out);
    if (!s->edits.n_files)
        str_puts(out, "nothing to change in the binding file\n");
}

static json_t *json_size(const uint32_t s[3])
{
    return json_pack("[I, I, I]", (json_int_t)s[0], (json_int_t)s[1],
                     (json_int_t)s[2]);
}

static json_t *json_trial(const tune_trial *x)
{
    json_t *j = json_pack(
        "{s:o, s:I, s:s}", "local", json_size(x->choice.local), "shaves",
        (json_int_t)x->choice.shaves, "outcome", tune_outcome_name(x->outcome));

    if (x->outcome == TUNE_RAN)
        json_object_set_new(j, "cost", json_integer((json_int_t)x->cost));
    return j;
}

static json_t *json_row(const session *s, const tune_row *r)
{
    const graph_launch *l = &s->t.graph->launches[r->launch];
    json_t *trials = json_array(), *j;

    for (size_t i = 0; i < r->n_trials; i++)
        json_array_append_new(trials, json_trial(&r->trials[i]));
    j = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o, s:I, s:I}", "launch", l->name,
                  "kernel", l->entry, "global", json_size(l->global), "known",
                  r->known, "before", json_size(r->before.local), "local",
                  json_size(r->best.local), "shaves",
                  (json_int_t)r->best.shaves, "cost", (json_int_t)r->cost_best);
    if (!r->known) {
        json_object_set_new(j, "cost_before",
                            json_integer((json_int_t)r->cost_before));
        json_object_set_new(j, "candidates",
                            json_integer((json_int_t)r->n_candidates));
        json_object_set_new(j, "vector_factor",
                            json_integer((json_int_t)r->factor));
    }
    json_object_set_new(j, "tried", trials);
    return j;
}

static void print_json(const session *s)
{
    json_t *list = json_array();
    str diff = {0};

    for (uint32_t i = 0; i < s->report.n_rows; i++)
        json_array_append_new(list, json_row(s, &s->report.rows[i]));
    tune_edits_diff(&s->edits, &diff);
    cli_put_json(json_pack("{s:s, s:s, s:I, s:o, s:s}", "mode",
                           tune_mode_name((tune_mode)(s->o.mode + 1)), "unit",
                           s->report.cycles ? "cycles" : "ns", "runs",
                           (json_int_t)s->report.runs, "launches", list, "diff",
                           str_text(&diff)),
                 JSONTEXT_EXACT);
    str_free(&diff);
}

static vpu_status show(const session *s, vpu_error *err)
{
    str text = {0};

    cli_progress_done();
    print_text(s, &text);
    if (s->o.json)
        print_json(s);
    else
        cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
    if (s->o.diff || s->o.write)
        for (size_t i = 0; i < s->edits.n_notes; i++)
            log_note(&s->log, "%s", s->edits.notes[i]);
    return s->o.write ? tune_edits_write(&s->edits, err) : VPU_OK;
}

static int tune_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    if (!rc) {
        vpu_status st;

        s.log = cli_log(s.o.t.quiet);
        st = target_bind(&s.o.t, s.a, &s.log, &s.t, &err);
        if (!st)
            st = tune(&s, &err);
        if (!st)
            st = show(&s, &err);
        rc = st ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_tune = {
    .name = "tune",
    .summary = "find the local sizes that make a layer fastest",
    .head =
        "usage: vpu tune LAYER.xml [OPTIONS]\n\n"
        "Runs each stage of a layer with other local sizes than the binding file says:\n"
        "those that divide the global size, that the kernel allows and for which local\n"
        "memory is enough. A size with which the kernel gives other values does not\n"
        "count. On the simulator cycles decide, and the same layer is tuned the same way\n"
        "every time. vpu run --tuned takes the sizes from the file.\n"
        "docs/tuning.md tells how they are searched.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Examples:\n"
        "  vpu tune kernels/grn/layer.xml --layer GRN --shape in0=1x16x64x64 \\\n"
        "      --param bias=1.0 --file tuned.txt\n"
        "  vpu tune layer.xml --model net.xml --mode exhaustive --diff\n",
    .main = tune_main};
