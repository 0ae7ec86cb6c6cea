/* vpu sweep report: the best points, the front, which parameter matters. */
#include "runtime/cli/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "runtime/sweep/chart.h"

typedef struct {
    options_list objectives;
    const char *x, *y, *heat, *lines;
    uint32_t front;
    bool json, partial;
} report_options;

#define AT(field) offsetof(report_options, field)

static const cli_option rows[] = {
    {"objective", "FIGURE", OPTION_LIST, AT(objectives),
     .help = "a column of the table that should be small; may be given several "
             "times (default: cycles, cmx_bytes, ddr_bytes, and error where "
             "the manifest has --expect). Parameters are judged by the first"},
    {"front", "N", OPTION_COUNT, AT(front),
     .help = "at most so many points of the front (default 20)"},
    {"heat", "FILE", OPTION_NAME, AT(heat),
     .help = "a heat map of two parameters, as .svg or .png"},
    {"lines", "FILE", OPTION_NAME, AT(lines),
     .help = "a line over one parameter for each value of the other"},
    {"x", "COLUMN", OPTION_NAME, AT(x),
     .help = "of pictures: from left to right (default: the parameter that "
             "matters most)"},
    {"y", "COLUMN", OPTION_NAME, AT(y),
     .help = "of pictures: the other one (default: the next)"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the report as JSON"},
    {"partial", NULL, OPTION_FLAG, AT(partial),
     .help = "of the points that have results, although some are missing"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

typedef struct {
    report_options o;
    const char *dir;
    arena *a;
    sweep_store store;
    sweep_table t;
    size_t figures[SWEEP_MAX_OBJECTIVES], n_figures;
    const sweep_result **front;
    size_t n_front;
    sweep_effect *effects;
    size_t n_effects;
} session;

/* --- what is asked -------------------------------------------------------- */

static vpu_status take_objective(session *s, const char *name, vpu_error *err)
{
    int i = sweep_figure_find(name);
    nearest n = {.word = name};

    for (size_t k = 0; k < s->n_figures; k++)
        if ((size_t)i == s->figures[k])
            return VPU_OK;
    for (size_t k = 0; sweep_figure_name(k); k++)
        nearest_offer(&n, sweep_figure_name(k));
    if (i < 0)
        return err_set(err, VPU_ERR_INVALID,
                       "--objective %s: no such figure%s%s%s", name,
                       n.best ? "; did you mean " : "", n.best ? n.best : "",
                       n.best ? "?" : "");
    if (s->n_figures == SWEEP_MAX_OBJECTIVES)
        return err_set(err, VPU_ERR_INVALID, "--objective: at most %d",
                       SWEEP_MAX_OBJECTIVES);
    s->figures[s->n_figures++] = (size_t)i;
    return VPU_OK;
}

static vpu_status take_objectives(session *s, vpu_error *err)
{
    static const char *const usual[] = {"cycles", "cmx_bytes", "ddr_bytes",
                                        "error"};
    bool columns[SWEEP_MAX_FIGURES];
    vpu_status st = VPU_OK;

    sweep_find_columns(&s->store.manifest, columns);
    for (uint32_t i = 0; i < s->o.objectives.n && !st; i++)
        st = take_objective(s, s->o.objectives.items[i], err);
    for (size_t i = 0; i < 4 && !s->o.objectives.n && !st; i++)
        if (columns[sweep_figure_find(usual[i])])
            st = take_objective(s, usual[i], err);
    return st;
}

static vpu_status find_column(const session *s, const char *option,
                              const char *name, size_t *out, vpu_error *err)
{
    const sweep_manifest *m = &s->store.manifest;
    nearest n = {.word = name};

    for (size_t d = 0; d < m->n_dims; d++) {
        nearest_offer(&n, m->dims[d].name);
        if (!strcmp(m->dims[d].name, name)) {
            *out = d;
            return VPU_OK;
        }
    }
    return err_set(err, VPU_ERR_INVALID, "%s %s: no such column%s%s%s", option,
                   name, n.best ? "; did you mean " : "", n.best ? n.best : "",
                   n.best ? "?" : "");
}

/* --- pictures ------------------------------------------------------------- */

/* The parameter that matters most, but for the one that is taken. */
static bool next_effect(const session *s, size_t taken, size_t *out)
{
    for (size_t i = 0; i < s->n_effects; i++)
        if (s->effects[i].dim != taken) {
            *out = s->effects[i].dim;
            return true;
        }
    return false;
}

static vpu_status draw(session *s, vpu_error *err)
{
    sweep_chart c = {.table = &s->t, .y = SIZE_MAX};
    vpu_status st = VPU_OK;

    if (!s->o.heat && !s->o.lines)
        return VPU_OK;
    if (s->o.y)
        st = find_column(s, "--y", s->o.y, &c.y, err);
    c.has_y = s->o.y != NULL;
    if (!st && s->o.x)
        st = find_column(s, "--x", s->o.x, &c.x, err);
    else if (!st && !next_effect(s, c.y, &c.x))
        st = err_set(err, VPU_ERR_INVALID,
                     "no parameter has more than one value: there is nothing "
                     "to draw");
    if (!st && !c.has_y)
        c.has_y = next_effect(s, c.x, &c.y);
    if (!st && s->o.heat && !c.has_y)
        st = err_set(err, VPU_ERR_INVALID,
                     "--heat needs two parameters of several values, and the "
                     "manifest has one; --lines draws it");
    if (!st && s->o.heat)
        st = sweep_chart_heat(&c, s->o.heat, err);
    return st || !s->o.lines ? st : sweep_chart_lines(&c, s->o.lines, err);
}

/* --- text ----------------------------------------------------------------- */

/* Columns as wide as what stands in them; the first word of each at the left.
 */
typedef struct {
    const char ***cells;
    size_t n_rows, n_columns;
} grid;

static void put_grid(const grid *g, str *out)
{
    for (size_t r = 0; r < g->n_rows; r++)
        for (size_t c = 0; c < g->n_columns; c++) {
            size_t width = 0;

            for (size_t i = 0; i < g->n_rows; i++)
                if (strlen(g->cells[i][c]) > width)
                    width = strlen(g->cells[i][c]);
            if (c + 1 < g->n_columns)
                str_printf(out, "%-*s  ", (int)width, g->cells[r][c]);
            else
                str_printf(out, "%s\n", g->cells[r][c]);
        }
}

static const char *value_text(const session *s, double x)
{
    return isnan(x)                    ? ""
           : x == floor(x) && x < 1e15 ? arena_printf(s->a, "%.0f", x)
                                       : arena_printf(s->a, "%.6g", x);
}

static const char *name_of(const session *s, size_t objective)
{
    return sweep_figure_name(s->figures[objective]);
}

/* Number, parameters that vary, objectives. */
static const char **front_cells(const session *s, const sweep_result *r)
{
    const sweep_manifest *m = &s->store.manifest;
    const char **cells =
        arena_array(s->a, const char *, 1 + m->n_dims + s->n_figures);
    size_t n = 0;

    cells[n++] = r ? arena_printf(s->a, "%" PRIu64, r->number) : "point";
    for (size_t d = 0; d < m->n_dims; d++)
        if (sweep_levels(&m->dims[d]) > 1)
            cells[n++] = r ? r->cells[d].text : m->dims[d].name;
    for (size_t k = 0; k < s->n_figures; k++)
        cells[n++] = r ? value_text(s, r->values[k]) : name_of(s, k);
    return cells;
}

static size_t shown_of_front(const session *s)
{
    return s->n_front < s->o.front ? s->n_front : s->o.front;
}

static void put_front(const session *s, str *out)
{
    size_t n = shown_of_front(s);
    grid g = {arena_array(s->a, const char **, n + 1), n + 1,
              1 + s->n_effects + s->n_figures};

    g.cells[0] = front_cells(s, NULL);
    for (size_t i = 0; i < n; i++)
        g.cells[i + 1] = front_cells(s, s->front[i]);
    str_puts(out, "\nno other point is better than these in one figure and as "
                  "good in the rest:\n");
    put_grid(&g, out);
    if (n < s->n_front)
        str_printf(out, "and %zu more (--front)\n", s->n_front - n);
}

static void find_ends(const sweep_effect *e, uint32_t *low, uint32_t *high)
{
    *low = *high = UINT32_MAX;
    for (uint32_t l = 0; l < e->n_levels; l++) {
        if (isnan(e->means[l]))
            continue;
        if (*low == UINT32_MAX || e->means[l] < e->means[*low])
            *low = l;
        if (*high == UINT32_MAX || e->means[l] > e->means[*high])
            *high = l;
    }
}

static const char **effect_cells(const session *s, const sweep_effect *e)
{
    const sweep_dimension *d = &s->store.manifest.dims[e->dim];
    const char **cells = arena_array(s->a, const char *, 6);
    uint32_t low, high;

    find_ends(e, &low, &high);
    cells[0] = d->name;
    cells[1] = arena_printf(s->a, "%.1f %%", 100 * e->spread);
    cells[2] = e->ordered ? arena_printf(s->a, "%+.2f", e->spearman) : "-";
    cells[3] = low == UINT32_MAX ? "-" : sweep_level_text(d, low, s->a);
    cells[4] = high == UINT32_MAX ? "-" : sweep_level_text(d, high, s->a);
    return cells;
}

static void put_effects(const session *s, str *out)
{
    static const char *head[] = {"parameter", "spread", "Spearman", "lowest at",
                                 "highest at"};
    grid g = {arena_array(s->a, const char **, s->n_effects + 1),
              s->n_effects + 1, 5};

    if (!s->n_effects)
        return;
    g.cells[0] = head;
    for (size_t i = 0; i < s->n_effects; i++)
        g.cells[i + 1] = effect_cells(s, &s->effects[i]);
    str_printf(out,
               "\nmean %s at each value of a parameter; spread: the "
               "largest less the smallest, of all points' mean:\n",
               name_of(s, 0));
    put_grid(&g, out);
}

static void put_text(const session *s, str *out)
{
    str_printf(out, "%zu points of %" PRIu64 "\n", s->t.n,
               s->t.gathered.points);
    if (s->n_front)
        str_printf(out,
                   "lowest %s: %s, point %" PRIu64 "; `vpu sweep list %s "
                   "--point %" PRIu64 "` has its command\n",
                   name_of(s, 0), value_text(s, s->front[0]->values[0]),
                   s->front[0]->number, s->dir, s->front[0]->number);
    put_front(s, out);
    put_effects(s, out);
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *json_front(const session *s)
{
    const sweep_manifest *m = &s->store.manifest;
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_front; i++) {
        const sweep_result *r = s->front[i];
        json_t *parameters = json_object(), *figures = json_object();

        for (size_t d = 0; d < m->n_dims; d++)
            json_object_set_new(parameters, m->dims[d].name,
                                jsontext_string(r->cells[d].text));
        for (size_t k = 0; k < s->n_figures; k++)
            json_object_set_new(figures, name_of(s, k),
                                json_real(r->values[k]));
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o}", "point", (json_int_t)r->number,
                            "parameters", parameters, "figures", figures));
    }
    return list;
}

static json_t *json_effects(const session *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_effects; i++) {
        const sweep_effect *e = &s->effects[i];
        const sweep_dimension *d = &s->store.manifest.dims[e->dim];
        json_t *means = json_object();

        for (uint32_t l = 0; l < e->n_levels; l++)
            if (!isnan(e->means[l]))
                json_object_set_new(means, sweep_level_text(d, l, s->a),
                                    json_real(e->means[l]));
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:o, s:o}", "parameter", d->name,
                            "spread", e->spread, "spearman",
                            e->ordered ? json_real(e->spearman) : json_null(),
                            "means", means));
    }
    return list;
}

/* --- the command ---------------------------------------------------------- */

static vpu_status read_all(session *s, vpu_error *err)
{
    vpu_status st = sweep_store_open(s->dir, s->a, &s->store, err);

    if (!st)
        st = take_objectives(s, err);
    if (!st)
        st = sweep_table_read(&s->store, s->figures, s->n_figures, s->a, &s->t,
                              err);
    if (!st) {
        sweep_pareto(&s->t, s->a, &s->front, &s->n_front);
        sweep_effects(&s->t, 0, s->a, &s->effects, &s->n_effects);
    }
    return st;
}

static void show(const session *s)
{
    str text = {0};

    if (s->o.json) {
        cli_put_json(json_pack("{s:I, s:I, s:s, s:o, s:o}", "points",
                               (json_int_t)s->t.gathered.points, "missing",
                               (json_int_t)s->t.gathered.missing, "objective",
                               name_of(s, 0), "front", json_front(s),
                               "parameters", json_effects(s)),
                     JSONTEXT_EXACT);
        return;
    }
    put_text(s, &text);
    cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
}

static int report(session *s)
{
    vpu_error err = {0};

    if (read_all(s, &err))
        return cli_fail(&err);
    if (s->t.gathered.missing) {
        fprintf(stderr,
                "vpu: %" PRIu64 " of %" PRIu64 " points are missing: `vpu "
                "sweep gather` names them\n",
                s->t.gathered.missing, s->t.gathered.points);
        if (!s->o.partial)
            return CLI_DIFFERS;
    }
    if (draw(s, &err))
        return cli_fail(&err);
    show(s);
    return CLI_OK;
}

static int report_main(int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    session s = {.a = arena_create(0), .o = {.front = 20}};
    int rc = cli_parse(&cli_sweep_report, &s.o, &line, s.a);

    if (!rc && line.n_words != 1)
        rc = cli_usage(&cli_sweep_report, "expected one sweep's folder");
    if (!rc) {
        s.dir = line.words[0];
        rc = report(&s);
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_sweep_report = {
    .name = "sweep report",
    .summary = "the best points, and which parameter matters",
    .head =
        "usage: vpu sweep report DIR [OPTIONS]\n\n"
        "The Pareto front of a sweep's points: those that no other point beats in all\n"
        "figures; and how much each parameter changes the first figure: means over the\n"
        "points of each value, and Spearman's rank correlation for numbers and shapes.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\nExit status: 0 a report, 1 points are missing, 2 an error.\n",
    .main = report_main};
