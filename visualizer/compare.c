/* Pairs the stages of two traces, makes a row for each stage and each phase of
 * a work-group, joins rows of equal groups, and ranks them by the time that
 * was lost. */
#include "visualizer/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "visualizer/export.h"

enum { NONE = UINT32_MAX };

/* --- stages -------------------------------------------------------------- */

/* Stages in order of name and occurrence, to find those of a name. */
typedef struct {
    const facts_stage *s;
    uint32_t at;
} stage_key;

static int by_name(const void *x, const void *y)
{
    const stage_key *a = x, *b = y;
    int order = strcmp(a->s->name, b->s->name);

    if (order)
        return order;
    return (a->s->occurrence > b->s->occurrence) -
           (a->s->occurrence < b->s->occurrence);
}

static stage_key *sorted(const facts *f)
{
    stage_key *k = calloc((size_t)f->n_stages + 1, sizeof *k);

    for (uint32_t i = 0; k && i < f->n_stages; i++)
        k[i] = (stage_key){&f->stages[i], i};
    if (k)
        qsort(k, f->n_stages, sizeof *k, by_name);
    return k;
}

static uint32_t named(const stage_key *keys, const facts *in,
                      const facts_stage *s)
{
    stage_key want = {s, 0};
    const stage_key *k =
        bsearch(&want, keys, in->n_stages, sizeof *keys, by_name);

    return k ? k->at : NONE;
}

static void pair_named(compare *c, const stage_key *a, const stage_key *b)
{
    uint32_t left[2] = {0}, k = 0;

    for (uint32_t i = 0; i < c->facts[0]->n_stages; i++) {
        uint32_t j = named(b, c->facts[1], &c->facts[0]->stages[i]);

        left[0] += j == NONE;
        c->pairs[c->n_pairs++] = (compare_pair){{i, j}};
    }
    for (uint32_t j = 0; j < c->facts[1]->n_stages; j++)
        left[1] += named(a, c->facts[0], &c->facts[1]->stages[j]) == NONE;
    for (uint32_t j = 0; j < c->facts[1]->n_stages; j++) {
        if (named(a, c->facts[0], &c->facts[1]->stages[j]) != NONE)
            continue;
        if (left[0] != left[1]) {
            c->pairs[c->n_pairs++] = (compare_pair){{NONE, j}};
            continue;
        }
        while (c->pairs[k].stage[1] != NONE)
            k++;
        c->pairs[k].stage[1] = j;
    }
}

static bool pair_stages(compare *c)
{
    stage_key *a = sorted(c->facts[0]), *b = sorted(c->facts[1]);
    bool ok;

    c->pairs = calloc((size_t)c->facts[0]->n_stages + c->facts[1]->n_stages + 1,
                      sizeof *c->pairs);
    for (int side = 0; side < 2; side++)
        c->pair_of[side] =
            calloc((size_t)c->facts[side]->n_stages + 1, sizeof(uint32_t));
    ok = a && b && c->pairs && c->pair_of[0] && c->pair_of[1];
    if (ok)
        pair_named(c, a, b);
    for (uint32_t i = 0; ok && i < c->n_pairs; i++)
        for (int side = 0; side < 2; side++)
            if (c->pairs[i].stage[side] != NONE)
                c->pair_of[side][c->pairs[i].stage[side]] = i;
    free(a);
    free(b);
    return ok;
}

static uint32_t pair_of(const compare *c, int side, uint32_t stage)
{
    return c->pair_of[side][stage];
}

/* --- rows ---------------------------------------------------------------- */

static double in_unit(const compare *c, int side, uint64_t ticks)
{
    return c->unit[0] == 'c' ? (double)ticks : tl_ns(c->tl[side], ticks);
}

static compare_row *add_row(compare *c, compare_row row)
{
    if (c->n_rows == c->cap_rows) {
        uint64_t cap = c->cap_rows ? 2 * c->cap_rows : 256;
        compare_row *rows = realloc(c->rows, cap * sizeof *rows);

        if (!rows)
            return NULL;
        c->rows = rows;
        c->cap_rows = cap;
    }
    row.at[0].row = row.at[1].row = NONE;
    c->rows[c->n_rows] = row;
    return &c->rows[c->n_rows++];
}

static void add_causes(const compare *c, int side, const tl_row *r,
                       uint64_t from, uint64_t to, uint64_t cause[TL_N_CAUSES])
{
    uint64_t sums[TL_N_CLASSES];

    if (r->n_lanes < 2)
        return;
    tl_sums(c->tl[side], &r->lanes[1], from, to, sums);
    for (int k = 0; k < TL_N_CAUSES; k++)
        cause[k] += sums[k];
}

static bool add_stage(compare *c, int side, uint32_t pair)
{
    const facts_stage *s = &c->facts[side]->stages[c->pairs[pair].stage[side]];
    compare_row *all =
        add_row(c, (compare_row){.kind = COMPARE_STAGE, .stage = pair});
    uint64_t at = c->n_rows - 1;

    if (!all)
        return false;
    all->in[side] = true;
    all->time[side] = in_unit(c, side, s->end - s->begin);
    all->at[side] = (view_slice){s->row, 0, s->slice};
    for (uint32_t i = 0; i < c->tl[side]->n_rows; i++) {
        const tl_row *r = &c->tl[side]->rows[i];
        compare_row *shave;
        uint64_t busy = 0;

        if (r->kind != TL_ROW_SHAVE || !r->lanes)
            continue;
        shave = add_row(c, (compare_row){.kind = COMPARE_SHAVE,
                                         .stage = pair,
                                         .number = r->index});
        if (!shave)
            return false;
        shave->in[side] = true;
        add_causes(c, side, r, s->begin, s->end, shave->cause[side]);
        for (int k = 0; k < TL_N_CAUSES; k++) {
            busy += k == TL_IDLE ? 0 : shave->cause[side][k];
            c->rows[at].cause[side][k] += shave->cause[side][k];
        }
        shave->time[side] = in_unit(c, side, busy);
    }
    return true;
}

/* One row per phase; equal groups are joined after sorting. */
static bool add_groups(compare *c, int side, uint32_t row)
{
    const tl_row *r = &c->tl[side]->rows[row];
    const tl_lane *l = &r->lanes[0];

    for (uint64_t i = 0; l->has_numbers && i < l->n_slices; i++) {
        const facts_stage *s = facts_stage_at(c->facts[side], tl_begin(l, i));
        uint64_t length = tl_length(l, i);
        compare_row *g;

        if (tl_number(l, i) == TL_NO_NUMBER)
            continue;
        g = add_row(c, (compare_row){
                           .kind = COMPARE_GROUP,
                           .stage = pair_of(
                               c, side, (uint32_t)(s - c->facts[side]->stages)),
                           .number = tl_number(l, i)});
        if (!g)
            return false;
        g->in[side] = true;
        g->time[side] = in_unit(c, side, length);
        g->at[side] = (view_slice){row, 0, i};
        add_causes(c, side, r, tl_begin(l, i), tl_begin(l, i) + length,
                   g->cause[side]);
    }
    return true;
}

static int by_place(const void *x, const void *y)
{
    const compare_row *a = x, *b = y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0;
}

static void join(const compare *c, compare_row *to, const compare_row *from)
{
    for (int side = 0; side < 2; side++) {
        const view_slice *s = &from->at[side], *t = &to->at[side];

        if (!from->in[side])
            continue;
        if (s->row != NONE &&
            (t->row == NONE ||
             tl_length(&c->tl[side]->rows[s->row].lanes[0], s->slice) >
                 tl_length(&c->tl[side]->rows[t->row].lanes[0], t->slice)))
            to->at[side] = *s;
        to->in[side] = true;
        to->time[side] += from->time[side];
        for (int k = 0; k < TL_N_CAUSES; k++)
            to->cause[side][k] += from->cause[side][k];
    }
}

static void join_equal(compare *c)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < c->n_rows; i++)
        if (n && !by_place(&c->rows[n - 1], &c->rows[i]))
            join(c, &c->rows[n - 1], &c->rows[i]);
        else
            c->rows[n++] = c->rows[i];
    c->n_rows = n;
}

/* Most lost first, then most gained; equal ones in the order of the table. */
typedef struct {
    double lost;
    uint32_t row;
} ranked;

static int by_loss(const void *x, const void *y)
{
    const ranked *a = x, *b = y;

    if ((a->lost > 0) != (b->lost > 0))
        return a->lost > 0 ? -1 : 1;
    if (a->lost != b->lost)
        return fabs(a->lost) > fabs(b->lost) ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool rank_rows(compare *c)
{
    ranked *r = calloc(c->n_rows + 1, sizeof *r);

    c->slower = calloc(c->n_rows + 1, sizeof *c->slower);
    if (!r || !c->slower) {
        free(r);
        return false;
    }
    for (uint64_t i = 0; i < c->n_rows && i < UINT32_MAX; i++)
        if (c->rows[i].in[0] && c->rows[i].in[1] &&
            c->rows[i].time[0] != c->rows[i].time[1])
            r[c->n_slower++] =
                (ranked){c->rows[i].time[1] - c->rows[i].time[0], (uint32_t)i};
    qsort(r, c->n_slower, sizeof *r, by_loss);
    for (uint64_t i = 0; i < c->n_slower; i++)
        c->slower[i] = r[i].row;
    free(r);
    return true;
}

static bool fill(compare *c)
{
    if (!pair_stages(c))
        return false;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < c->n_pairs; i++)
            if (c->pairs[i].stage[side] != NONE && !add_stage(c, side, i))
                return false;
        for (uint32_t i = 0; i < c->tl[side]->n_rows; i++)
            if (c->tl[side]->rows[i].kind == TL_ROW_SHAVE &&
                c->tl[side]->rows[i].lanes && !add_groups(c, side, i))
                return false;
    }
    if (c->n_rows)
        qsort(c->rows, c->n_rows, sizeof *c->rows, by_place);
    join_equal(c);
    return rank_rows(c) && compare_make_steps(c);
}

vpu_status compare_make(const view *a, const view *b, compare *out,
                        vpu_error *err)
{
    *out = (compare){.tl = {a->tl, b->tl}, .facts = {&a->facts, &b->facts}};
    out->unit =
        a->tl->clk_mhz && a->tl->clk_mhz == b->tl->clk_mhz ? "cycles" : "ns";
    if (fill(out))
        return VPU_OK;
    compare_free(out);
    return err_set(err, VPU_ERR_NOMEM, "no memory to compare two traces");
}

void compare_free(compare *c)
{
    free(c->pairs);
    free(c->pair_of[0]);
    free(c->pair_of[1]);
    free(c->rows);
    free(c->slower);
    free(c->steps);
    *c = (compare){0};
}

/* --- questions ----------------------------------------------------------- */

const compare_row *compare_find(const compare *c, compare_kind kind,
                                uint32_t stage, uint32_t number)
{
    compare_row key = {.kind = kind, .stage = stage, .number = number};

    return c->n_rows
               ? bsearch(&key, c->rows, c->n_rows, sizeof *c->rows, by_place)
               : NULL;
}

const compare_row *compare_of_slice(const compare *c, int side,
                                    const view_slice *s)
{
    const tl_row *r = &c->tl[side]->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    const facts_stage *stage =
        facts_stage_at(c->facts[side], tl_begin(l, s->slice));
    uint32_t pair =
        pair_of(c, side, (uint32_t)(stage - c->facts[side]->stages));

    if (r->kind == TL_ROW_STAGES)
        return compare_find(c, COMPARE_STAGE, pair, 0);
    if (r->kind != TL_ROW_SHAVE || s->lane ||
        tl_number(l, s->slice) == TL_NO_NUMBER)
        return NULL;
    return compare_find(c, COMPARE_GROUP, pair, tl_number(l, s->slice));
}

double compare_shift(const compare *c, const compare_row *group, double t)
{
    const facts_stage *a = facts_stage_at(c->facts[0], t > 0 ? (uint64_t)t : 0);
    uint32_t pair = pair_of(c, 0, (uint32_t)(a - c->facts[0]->stages)), b;

    if (group && group->in[0] && group->in[1] && group->at[0].row != NONE &&
        group->at[1].row != NONE) {
        const view_slice *x = &group->at[0], *y = &group->at[1];

        return (double)tl_begin(&c->tl[1]->rows[y->row].lanes[0], y->slice) -
               (double)tl_begin(&c->tl[0]->rows[x->row].lanes[0], x->slice);
    }
    b = c->pairs[pair].stage[1];
    return b == NONE ? 0
                     : (double)c->facts[1]->stages[b].begin - (double)a->begin;
}

void compare_headline(const compare *c, const char *a, const char *b, char *to,
                      size_t n)
{
    double na = tl_ns(c->tl[0], facts_work(c->facts[0]));
    double nb = tl_ns(c->tl[1], facts_work(c->facts[1]));
    double ratio = na > nb ? na / fmax(nb, 1) : nb / fmax(na, 1);
    int decimals = ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2;

    if (na == nb)
        snprintf(to, n, "both take the same time");
    else
        snprintf(to, n, "%.150s is %.*f times as fast as %.150s",
                 na > nb ? b : a, decimals, ratio, na > nb ? a : b);
}

void compare_badge(const compare_row *r, char *to, size_t n)
{
    double percent;

    if (!r->in[0] || !r->in[1]) {
        snprintf(to, n, "%s", r->in[1] ? "new" : "gone");
        return;
    }
    if (r->time[0] <= 0) {
        snprintf(to, n, "%s", r->time[1] > 0 ? "new" : "0 %");
        return;
    }
    percent = 100 * (r->time[1] - r->time[0]) / r->time[0];
    if (percent >= 1000)
        snprintf(to, n, "x%.0f", r->time[1] / r->time[0]);
    else if (fabs(percent) < 0.05)
        snprintf(to, n, "0 %%");
    else
        snprintf(to, n, fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%",
                 percent);
}

/* Whether both traces say what the time went to. */
static bool has_causes(const compare_row *r)
{
    uint64_t sums[2] = {0};

    for (int k = 0; k < TL_N_CAUSES; k++) {
        sums[0] += r->cause[0][k];
        sums[1] += r->cause[1][k];
    }
    return sums[0] && sums[1];
}

tl_class compare_reason(const compare_row *r)
{
    double sign = r->time[1] >= r->time[0] ? 1 : -1, most = 0;
    tl_class best = TL_N_CAUSES;

    if (r->time[0] == r->time[1] || !has_causes(r))
        return best;
    for (int k = 0; k < TL_N_CAUSES; k++) {
        double d = sign * ((double)r->cause[1][k] - (double)r->cause[0][k]);

        if (d > most) {
            most = d;
            best = (tl_class)k;
        }
    }
    return best;
}

static const char *stage_name(const compare *c, const compare_row *r)
{
    const compare_pair *p = &c->pairs[r->stage];

    return p->stage[0] != NONE ? c->facts[0]->stages[p->stage[0]].name
                               : c->facts[1]->stages[p->stage[1]].name;
}

void compare_name(const compare *c, const compare_row *r, char *to, size_t n)
{
    const char *stage = stage_name(c, r);

    if (r->kind == COMPARE_STAGE)
        snprintf(to, n, "stage %s", *stage ? stage : "(all)");
    else
        snprintf(to, n, "%s %u%s%s",
                 r->kind == COMPARE_SHAVE ? "SHAVE" : "group", r->number,
                 *stage ? " of " : "", stage);
}

/* --- table --------------------------------------------------------------- */

static void write_row(FILE *f, const compare *c, const compare_row *r)
{
    static const char *const kinds[] = {"stage", "SHAVE", "group"};
    tl_class why = compare_reason(r);

    fprintf(f, "%s,", kinds[r->kind]);
    export_quoted(f, stage_name(c, r));
    putc(',', f);
    if (r->kind != COMPARE_STAGE)
        fprintf(f, "%u", r->number);
    for (int side = 0; side < 2; side++) {
        putc(',', f);
        if (r->in[side])
            fprintf(f, "%.0f", r->time[side]);
    }
    putc(',', f);
    if (r->in[0] && r->in[1])
        fprintf(f, "%.0f", r->time[1] - r->time[0]);
    putc(',', f);
    if (r->in[0] && r->in[1] && r->time[0] > 0)
        fprintf(f, "%.6g", r->time[1] / r->time[0]);
    fprintf(f, ",%s",
            why < TL_N_CAUSES && r->in[0] && r->in[1] ? tl_class_name(why)
                                                      : "");
    for (int k = 0; k < TL_N_CAUSES; k++)
        if (has_causes(r))
            fprintf(f, ",%.0f",
                    in_unit(c, 1, r->cause[1][k]) -
                        in_unit(c, 0, r->cause[0][k]));
        else
            putc(',', f);
    fputs("\r\n", f);
}

vpu_status compare_csv(const compare *c, const char *path, vpu_error *err)
{
    file_out out;
    vpu_status st = file_out_open(&out, path, err);

    if (st)
        return st;
    fprintf(out.stream, "kind,stage,number,a_%s,b_%s,delta,ratio,reason",
            c->unit, c->unit);
    for (int k = 0; k < TL_N_CAUSES; k++)
        fprintf(out.stream, ",delta %s", tl_class_name((tl_class)k));
    fputs("\r\n", out.stream);
    for (uint64_t i = 0; i < c->n_rows; i++)
        write_row(out.stream, c, &c->rows[i]);
    st = file_out_commit(&out, err);
    file_out_abandon(&out);
    return st;
}
