/* What a trace tells of a work-group's bundles. */
#include <stdio.h>
#include <string.h>

#include "visualizer/view.h"

enum { MAX_ARGS = 48 };

/* Texts that are no operations. */
static bool take_text(const char *name, const char *text, view_bundle *b)
{
    const struct {
        const char *name;
        const char **to;
    } texts[] = {
        {"place", &b->place}, {"because", &b->why}, {"file", &b->file}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(name, texts[i].name)) {
            *texts[i].to = text;
            return true;
        }
    return false;
}

static void take_number(const tl_timeline *tl, const tl_arg *a, view_bundle *b)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"bundle", &b->number},     {"group", &b->group},
                   {"issue cycle", &b->cycle}, {"waited", &b->waited},
                   {"latency", &b->latency},   {"reads", &b->from}};
    const char *name = tl_text(tl, a->name);
    tl_class k = tl_class_of(tl, a->name);

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name))
            *numbers[i].to = a->number;
    b->reads |= !strcmp(name, "reads");
    if (!strcmp(name, "line") && a->number < UINT32_MAX)
        b->line = (uint32_t)a->number;
    if (k < TL_N_CAUSES)
        b->stalls[k] = a->number;
}

bool view_bundle_of(const view *v, const view_slice *s, view_bundle *out)
{
    const tl_timeline *tl = v->tl;
    tl_arg a[MAX_ARGS];
    size_t n, at = 0;

    if (tl->rows[s->row].kind != TL_ROW_BUNDLES)
        return false;
    *out = (view_bundle){.place = "", .why = "", .file = ""};
    n = tl_slice_args(tl, &tl->rows[s->row].lanes[s->lane], s->slice, a,
                      MAX_ARGS);
    for (size_t i = 0; i < n; i++) {
        const char *name = tl_text(tl, a[i].name);
        const char *text =
            a[i].kind == TL_ARG_TEXT ? tl_text(tl, a[i].text) : NULL;

        if (a[i].kind == TL_ARG_UINT)
            take_number(tl, &a[i], out);
        else if (text && !take_text(name, text, out) && at < sizeof out->text)
            at +=
                (size_t)snprintf(out->text + at, sizeof out->text - at,
                                 "%s%.8s %.300s", at ? "   " : "", name, text);
    }
    out->latency = out->latency ? out->latency : 1;
    return true;
}

bool view_bundle_on(const view *v, const view_slice *s, const char *file,
                    uint32_t line)
{
    const tl_lane *l = view_lane_of(v, s);
    tl_arg a;

    return v->tl->rows[s->row].kind == TL_ROW_BUNDLES &&
           tl_slice_arg(v->tl, l, s->slice, "line", &a) &&
           a.kind == TL_ARG_UINT && a.number == line &&
           tl_slice_arg(v->tl, l, s->slice, "file", &a) &&
           a.kind == TL_ARG_TEXT && !strcmp(tl_text(v->tl, a.text), file);
}

/* Of that SHAVE, else any. */
static uint32_t row_of_bundles(const view *v, uint32_t row)
{
    const tl_timeline *tl = v->tl;
    uint32_t any = UINT32_MAX;

    for (uint32_t i = 0; i < v->n_rows; i++) {
        const tl_row *r = &tl->rows[v->rows[i].row];

        if (r->kind != TL_ROW_BUNDLES || !r->lanes || !r->lanes[0].n_slices)
            continue;
        if (row != UINT32_MAX && tl->rows[row].index == r->index &&
            tl->rows[row].kind == TL_ROW_SHAVE)
            return v->rows[i].row;
        any = any == UINT32_MAX ? v->rows[i].row : any;
    }
    return any;
}

bool view_bundle_near(const view *v, view_slice *out)
{
    double t = (v->from + v->to) / 2;
    uint32_t row = UINT32_MAX;
    const tl_lane *l;
    uint64_t n;

    if (v->has_selection) {
        const view_slice *s = &v->selection;

        *out = *s;
        if (v->tl->rows[s->row].kind == TL_ROW_BUNDLES && !s->lane)
            return true;
        row = s->row;
        t = (double)tl_begin(&v->tl->rows[row].lanes[s->lane], s->slice);
    }
    row = row_of_bundles(v, row);
    if (row == UINT32_MAX)
        return false;
    l = &v->tl->rows[row].lanes[0];
    n = tl_count_before(l, t > 0 ? (uint64_t)t + 1 : 1);
    *out = (view_slice){.row = row, .slice = n ? n - 1 : 0};
    return true;
}

bool view_bundle_find(const view *v, const view_slice *s, uint64_t number,
                      view_slice *out)
{
    view_bundle b;

    *out = *s;
    if (!view_bundle_of(v, s, &b) || number >= b.number ||
        b.number - number > s->slice)
        return false;
    out->slice = s->slice - (b.number - number);
    return view_bundle_of(v, out, &b) && b.number == number;
}

bool view_bundles_cut(const view *v, uint32_t row)
{
    for (uint64_t i = 0; i < v->tl->n_instants; i++)
        if (v->tl->instants[i].row == row &&
            !strcmp(tl_text(v->tl, v->tl->instants[i].name), "cut off"))
            return true;
    return false;
}
