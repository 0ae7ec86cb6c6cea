/* Reads the arguments of stages, local memory and source lines from the
 * timeline. */
#include "visualizer/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *arg_text(const tl_timeline *tl, const tl_arg *a, size_t n,
                            const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].kind == TL_ARG_TEXT && !strcmp(tl_text(tl, a[i].name), key))
            return tl_text(tl, a[i].text);
    return "";
}

static double arg_number(const tl_timeline *tl, const tl_arg *a, size_t n,
                         const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(tl_text(tl, a[i].name), key))
            return a[i].kind == TL_ARG_UINT   ? (double)a[i].number
                   : a[i].kind == TL_ARG_REAL ? a[i].real
                                              : 0;
    return 0;
}

static uint64_t arg_uint(const tl_timeline *tl, const tl_arg *a, size_t n,
                         const char *key)
{
    double x = arg_number(tl, a, n, key);

    return x > 0 && x < 1e18 ? (uint64_t)x : 0;
}

/* "8x4x1"; zeros where it is none. */
static void take_triple(const char *text, uint32_t out[3])
{
    unsigned x[3];
    char end;

    if (sscanf(text, "%9ux%9ux%9u%c", &x[0], &x[1], &x[2], &end) != 3 ||
        !x[0] || !x[1] || !x[2])
        return;
    for (int i = 0; i < 3; i++)
        out[i] = x[i];
}

/* --- stages and local memory --------------------------------------------- */

static void add_stage(const tl_timeline *tl, facts *f, uint32_t row, uint64_t i,
                      uint32_t *seen)
{
    const tl_lane *l = &tl->rows[row].lanes[0];
    facts_stage *s = &f->stages[f->n_stages];
    tl_arg a[TL_SLICE_ARGS];
    size_t n = tl_slice_args(tl, l, i, a, TL_SLICE_ARGS);

    *s = (facts_stage){.name = tl_text(tl, tl_name_of(l, i)),
                       .kernel = arg_text(tl, a, n, "kernel"),
                       .begin = tl_begin(l, i),
                       .end = tl_end(l, i),
                       .row = row,
                       .slice = i,
                       .ddr_capacity = arg_number(tl, a, n, "DDR capacity"),
                       .local_bytes = arg_uint(tl, a, n, "local bytes"),
                       .local_budget = arg_uint(tl, a, n, "local budget")};
    take_triple(arg_text(tl, a, n, "group size"), s->group_size);
    take_triple(arg_text(tl, a, n, "grid"), s->grid);
    s->occurrence = seen[tl_name_of(l, i)]++;
    if (!(s->ddr_capacity > 0 && s->ddr_capacity < 1e9)) /* also NaN */
        s->ddr_capacity = 0;
    f->n_stages++;
}

/* seen: zeros, for each name a lane can have. */
static void find_stages(const tl_timeline *tl, facts *f, uint32_t *seen)
{
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        if (r->kind != TL_ROW_STAGES || !r->lanes)
            continue;
        for (uint64_t k = 0; k < r->lanes[0].n_slices; k++)
            add_stage(tl, f, i, k, seen);
        break;
    }
    if (!f->n_stages)
        f->stages[f->n_stages++] = (facts_stage){.name = "",
                                                 .kernel = "",
                                                 .begin = tl->begin,
                                                 .end = tl->end,
                                                 .row = UINT32_MAX};
}

static void find_local(const tl_timeline *tl, facts *f)
{
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        for (uint64_t k = 0;
             r->kind == TL_ROW_LOCAL && r->lanes && k < r->lanes[0].n_slices;
             k++) {
            tl_arg a;

            if (k && k + 1 < r->lanes[0].n_slices &&
                k % 64) /* it hardly changes */
                continue;
            if (tl_slice_arg(tl, &r->lanes[0], k, "bytes", &a) &&
                a.kind == TL_ARG_UINT && a.number > f->row_bytes[i])
                f->row_bytes[i] = a.number;
        }
    }
}

/* --- source -------------------------------------------------------------- */

static void add_line(const tl_timeline *tl, facts *f, const tl_arg *a, size_t n)
{
    f->lines[f->n_lines++] =
        (facts_line){.file = arg_text(tl, a, n, "file"),
                     .text = arg_text(tl, a, n, "text"),
                     .line = (uint32_t)arg_uint(tl, a, n, "line")};
}

static void add_cost(const tl_timeline *tl, facts *f, uint64_t t,
                     const tl_arg *a, size_t n)
{
    facts_cost *c = &f->costs[f->n_costs++];

    *c = (facts_cost){.stage = arg_text(tl, a, n, "stage"),
                      .file = arg_text(tl, a, n, "file"),
                      .phase = arg_text(tl, a, n, "phase"),
                      .line = (uint32_t)arg_uint(tl, a, n, "line"),
                      .time = t,
                      .executions = arg_uint(tl, a, n, "executions")};
    for (size_t i = 0; i < n; i++) {
        tl_class k = tl_class_of(tl, a[i].name);

        if (a[i].kind == TL_ARG_UINT && k < TL_N_CAUSES) {
            c->cause[k] += a[i].number;
            c->total += a[i].number;
        }
    }
}

static int by_rank(const void *x, const void *y)
{
    const facts_advice *a = x, *b = y;

    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1)
                              : (a->time > b->time) - (a->time < b->time);
}

static void add_advice(const tl_timeline *tl, facts *f, uint64_t t,
                       const tl_arg *a, size_t n)
{
    tl_class cause = TL_N_CAUSES;
    facts_advice x = {.stage = arg_text(tl, a, n, "stage"),
                      .rule = arg_text(tl, a, n, "rule"),
                      .file = arg_text(tl, a, n, "file"),
                      .text = arg_text(tl, a, n, "text"),
                      .knob = arg_text(tl, a, n, "knob"),
                      .time = t,
                      .rank = (uint32_t)arg_uint(tl, a, n, "rank"),
                      .line = (uint32_t)arg_uint(tl, a, n, "line"),
                      .before = arg_uint(tl, a, n, "cycles"),
                      .after = arg_uint(tl, a, n, "estimate")};

    for (size_t i = 0; i < n; i++)
        if (a[i].kind == TL_ARG_TEXT &&
            !strcmp(tl_text(tl, a[i].name), "cause"))
            cause = tl_class_of(tl, a[i].text);
    x.cause = cause < TL_N_CAUSES ? cause : TL_N_CAUSES;
    if (*x.text && x.after <= x.before)
        f->advice[f->n_advice++] = x;
}

static void find_advice(const tl_timeline *tl, facts *f)
{
    for (uint64_t i = 0; i < tl->n_instants; i++) {
        const tl_instant *at = &tl->instants[i];
        tl_arg a[32];

        if (strcmp(tl_text(tl, at->name), "advice") ||
            strcmp(tl->rows[at->row].name, "advice"))
            continue;
        add_advice(tl, f, at->time, a, tl_instant_args(tl, at, a, 32));
    }
    if (f->n_advice)
        qsort(f->advice, f->n_advice, sizeof *f->advice, by_rank);
}

static void find_source(const tl_timeline *tl, facts *f)
{
    for (uint64_t i = 0; i < tl->n_instants; i++) {
        const tl_instant *at = &tl->instants[i];
        const char *name = tl_text(tl, at->name);
        bool line = !strcmp(name, "text"), cost = !strcmp(name, "cost");
        tl_arg a[32];
        size_t n;

        if ((!line && !cost) || strcmp(tl->rows[at->row].name, "source"))
            continue;
        n = tl_instant_args(tl, at, a, 32);
        if (line)
            add_line(tl, f, a, n);
        else
            add_cost(tl, f, at->time, a, n);
    }
}

/* --- the critical path --------------------------------------------------- */

static uint32_t row_of(const tl_timeline *tl, tl_row_kind kind, uint64_t index)
{
    for (uint32_t i = 0; i < tl->n_rows; i++)
        if (tl->rows[i].kind == kind && tl->rows[i].index == index)
            return i;
    return UINT32_MAX;
}

/* The row that a slice of the path is about: a channel's, else a SHAVE's. */
static uint32_t row_of_slice(const tl_timeline *tl, const tl_lane *l,
                             uint64_t slice)
{
    tl_arg a;

    if (tl_slice_arg(tl, l, slice, "channel", &a))
        return row_of(tl, TL_ROW_DMA, a.number);
    if (tl_slice_arg(tl, l, slice, "shave", &a))
        return row_of(tl, TL_ROW_SHAVE, a.number);
    return UINT32_MAX;
}

/* Behind those that are there already, joined to what touches them. */
static void add_stretch(facts *f, uint32_t row, uint64_t *n, uint64_t begin,
                        uint64_t end)
{
    facts_stretch *own = f->path + f->path_at[row];

    if (n[row] && own[n[row] - 1].end >= begin)
        own[n[row] - 1].end = end;
    else
        own[n[row]++] = (facts_stretch){begin, end};
}

/* n: zeros, for each row. */
static void find_path(const tl_timeline *tl, facts *f, const tl_lane *l,
                      const uint32_t *rows, uint64_t *n)
{
    for (uint64_t k = 0; k < l->n_slices; k++)
        if (rows[k] != UINT32_MAX)
            f->path_at[rows[k] + 1]++;
    for (uint32_t i = 0; i < tl->n_rows; i++)
        f->path_at[i + 1] += f->path_at[i];
    for (uint64_t k = 0; k < l->n_slices; k++)
        if (rows[k] != UINT32_MAX)
            add_stretch(f, rows[k], n, tl_begin(l, k), tl_end(l, k));
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        memmove(f->path + f->n_path, f->path + f->path_at[i],
                n[i] * sizeof *f->path);
        f->path_at[i] = f->n_path;
        f->n_path += n[i];
    }
    f->path_at[tl->n_rows] = f->n_path;
}

static vpu_status make_path(const tl_timeline *tl, facts *f, vpu_error *err)
{
    uint32_t at = row_of(tl, TL_ROW_PATH, 0), *rows;
    const tl_lane *l;
    uint64_t *n;

    if (at == UINT32_MAX || !tl->rows[at].lanes)
        return VPU_OK;
    l = &tl->rows[at].lanes[0];
    rows = calloc(l->n_slices + 1, sizeof *rows);
    n = calloc(tl->n_rows + 1, sizeof *n);
    f->path = calloc(l->n_slices + 1, sizeof *f->path);
    for (uint64_t k = 0; rows && k < l->n_slices; k++)
        rows[k] = row_of_slice(tl, l, k);
    if (rows && n && f->path)
        find_path(tl, f, l, rows, n);
    free(rows);
    free(n);
    return rows && n && f->path
               ? VPU_OK
               : err_set(err, VPU_ERR_NOMEM, "no memory for a critical path");
}

vpu_status facts_make(const tl_timeline *tl, facts *out, vpu_error *err)
{
    uint64_t stages = 1, lines = 0, costs = 0, advice = 0;
    vpu_status st;
    uint32_t *seen = calloc(UINT16_MAX + 1, sizeof *seen);

    for (uint32_t i = 0; i < tl->n_rows; i++)
        if (tl->rows[i].kind == TL_ROW_STAGES && tl->rows[i].lanes)
            stages += tl->rows[i].lanes[0].n_slices;
    for (uint64_t i = 0; i < tl->n_instants; i++) {
        const char *name = tl_text(tl, tl->instants[i].name);

        lines += !strcmp(name, "text");
        costs += !strcmp(name, "cost");
        advice += !strcmp(name, "advice");
    }
    *out = (facts){.stages = calloc(stages, sizeof *out->stages),
                   .lines = calloc(lines + 1, sizeof *out->lines),
                   .costs = calloc(costs + 1, sizeof *out->costs),
                   .advice = calloc(advice + 1, sizeof *out->advice),
                   .row_bytes = calloc(tl->n_rows + 1, sizeof(uint64_t)),
                   .path_at = calloc(tl->n_rows + 1, sizeof(uint64_t))};
    if (!out->stages || !out->lines || !out->costs || !out->advice ||
        !out->row_bytes || !out->path_at || !seen) {
        free(seen);
        facts_free(out);
        return err_set(err, VPU_ERR_NOMEM, "no memory for a trace's stages");
    }
    find_stages(tl, out, seen);
    free(seen);
    find_local(tl, out);
    if (tl->clk_mhz)
        find_source(tl, out);
    if (tl->clk_mhz)
        find_advice(tl, out);
    st = make_path(tl, out, err);
    if (st)
        facts_free(out);
    return st;
}

void facts_free(facts *f)
{
    free(f->stages);
    free(f->lines);
    free(f->costs);
    free(f->advice);
    free(f->row_bytes);
    free(f->path);
    free(f->path_at);
    *f = (facts){0};
}

/* --- questions ----------------------------------------------------------- */

uint64_t facts_work(const facts *f)
{
    uint64_t end = f->stages[f->n_stages - 1].end;

    return end > f->stages[0].begin ? end - f->stages[0].begin : 0;
}

const facts_stage *facts_stage_at(const facts *f, uint64_t t)
{
    uint32_t lo = 0, hi = f->n_stages;

    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;

        if (f->stages[mid].begin <= t)
            lo = mid;
        else
            hi = mid;
    }
    return &f->stages[lo];
}

double facts_capacity(const facts *f)
{
    double most = 0;

    for (uint32_t i = 0; i < f->n_stages; i++)
        if (f->stages[i].ddr_capacity > most)
            most = f->stages[i].ddr_capacity;
    return most;
}

uint64_t facts_path(const facts *f, const tl_timeline *tl, uint32_t row,
                    const facts_stretch **out)
{
    if (tl->rows[row].kind == TL_ROW_LOCAL)
        row = row_of(tl, TL_ROW_SHAVE, tl->rows[row].index);
    if (row == UINT32_MAX || !f->n_path)
        return 0;
    *out = f->path + f->path_at[row];
    return f->path_at[row + 1] - f->path_at[row];
}

static bool is_of(const facts_cost *c, const facts_stage *s, const char *phase)
{
    return (!s || (!strcmp(c->stage, s->name) && c->time == s->begin)) &&
           (!phase || !strcmp(c->phase, phase));
}

static void add_up(facts_cost *to, const facts_cost *from)
{
    uint64_t executions = to->executions, total = to->total + from->total;

    for (int k = 0; k < TL_N_CAUSES; k++)
        to->cause[k] += from->cause[k];
    to->total = total;
    to->executions =
        executions > from->executions ? executions : from->executions;
}

facts_cost facts_cost_of(const facts *f, const facts_stage *s,
                         const char *phase, const char *file, uint32_t line)
{
    facts_cost sum = {.stage = s ? s->name : "",
                      .file = file,
                      .phase = phase ? phase : "",
                      .line = line};

    for (uint32_t i = 0; i < f->n_costs; i++)
        if (f->costs[i].line == line && is_of(&f->costs[i], s, phase) &&
            !strcmp(f->costs[i].file, file))
            add_up(&sum, &f->costs[i]);
    return sum;
}

bool facts_hottest(const facts *f, const facts_stage *s, const char *phase,
                   tl_class cause, facts_cost *out)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < f->n_costs; i++) {
        const facts_cost *c = &f->costs[i];
        uint64_t n = cause < TL_N_CAUSES ? c->cause[cause] : c->total;

        if (n > most && is_of(c, s, phase)) {
            most = n;
            *out = *c;
        }
    }
    return most;
}

const char *facts_text(const facts *f, const char *file, uint32_t line)
{
    for (uint32_t i = 0; i < f->n_lines; i++)
        if (f->lines[i].line == line && !strcmp(f->lines[i].file, file))
            return f->lines[i].text;
    return "";
}

bool facts_items(const facts_stage *s, uint64_t group, uint64_t first[3],
                 uint64_t last[3])
{
    uint64_t at = group;

    if (!s->grid[0] || !s->group_size[0])
        return false;
    for (int i = 0; i < 3; i++) {
        first[i] = at % s->grid[i] * s->group_size[i];
        last[i] = first[i] + s->group_size[i] - 1;
        at /= s->grid[i];
    }
    return !at;
}
