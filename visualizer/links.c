/* See links.h. */
#include "visualizer/links.h"

#include <string.h>

typedef struct {
    const view *v;
    links_link *out;
    size_t n;
} finder;

static uint64_t begin_of(const view *v, const view_slice *s)
{
    return tl_begin(view_lane_of(v, s), s->slice);
}

static uint64_t end_of(const view *v, const view_slice *s)
{
    return tl_end(view_lane_of(v, s), s->slice);
}

static bool same(const view_slice *a, const view_slice *b)
{
    return a->row == b->row && a->lane == b->lane && a->slice == b->slice;
}

static void add(finder *f, const links_link *l)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->out[i].kind == l->kind && same(&f->out[i].from, &l->from) &&
            same(&f->out[i].to, &l->to))
            return;
    if (f->n < LINKS_MAX)
        f->out[f->n++] = *l;
}

/* --- transfers ------------------------------------------------------------ */

/* The SHAVE that a transfer is for. */
static bool shave_of(const view *v, const view_slice *transfer, uint32_t *shave)
{
    tl_arg a;

    if (v->tl->rows[transfer->row].kind != TL_ROW_DMA ||
        !tl_slice_arg(v->tl, view_lane_of(v, transfer), transfer->slice,
                      "shave", &a))
        return false;
    *shave = (uint32_t)a.number;
    return true;
}

static bool is_of_shave(const view *v, const view_slice *t, uint32_t shave)
{
    uint32_t of;

    return shave_of(v, t, &of) && of == shave;
}

/* Calls for each transfer of the SHAVE that begins in [from, to); group:
 * TL_NO_NUMBER = of any. */
static void each_transfer(const view *v, uint32_t shave, uint32_t group,
                          uint64_t from, uint64_t to,
                          void (*see)(void *user, const view_slice *t),
                          void *user)
{
    for (uint32_t k = 0; k < v->tl->n_rows; k++) {
        const tl_row *r = &v->tl->rows[k];

        for (uint32_t lane = 0; r->kind == TL_ROW_DMA && lane < r->n_lanes;
             lane++) {
            const tl_lane *l = &r->lanes[lane];
            uint64_t i = tl_count_before(l, from), end = tl_count_before(l, to);

            if (end - i > LINKS_LOOK)
                end = i + LINKS_LOOK;
            for (; i < end; i++) {
                view_slice t = {k, lane, i};

                if ((group == TL_NO_NUMBER || tl_number(l, i) == group) &&
                    is_of_shave(v, &t, shave))
                    see(user, &t);
            }
        }
    }
}

/* --- a work-group --------------------------------------------------------- */

enum { MAX_PHASES = 8 };

typedef struct {
    finder *f;
    view_slice phases[MAX_PHASES]; /* in order of time */
    int n;
} group;

static void see_transfer(void *user, const view_slice *t)
{
    group *g = user;
    const view *v = g->f->v;
    uint64_t begin = begin_of(v, t), end = end_of(v, t);
    int by = -1;

    /* The last phase that had begun started it. */
    for (int i = 0; i < g->n; i++)
        if (begin_of(v, &g->phases[i]) <= begin)
            by = i;
    if (by < 0)
        return;
    add(g->f, &(links_link){LINKS_STARTS, g->phases[by], *t,
                            begin < end_of(v, &g->phases[by])
                                ? begin
                                : end_of(v, &g->phases[by]),
                            begin});
    if (by + 1 < g->n && end > end_of(v, &g->phases[by]) &&
        end <= begin_of(v, &g->phases[by + 1]))
        add(g->f, &(links_link){LINKS_BRINGS, *t, g->phases[by + 1], end,
                                begin_of(v, &g->phases[by + 1])});
}

/* What there is of the group of a phase. */
static void find_group(finder *f, const view_slice *phase)
{
    const view *v = f->v;
    group g = {.f = f};
    view_slice first = *phase, next;
    const facts_stage *stage;

    for (int i = 0; i < MAX_PHASES && view_flow(v, &first, -1, &next); i++)
        first = next;
    g.phases[g.n++] = first;
    while (g.n < MAX_PHASES && view_flow(v, &g.phases[g.n - 1], 1, &next))
        g.phases[g.n++] = next;
    for (int i = 0; i + 1 < g.n; i++)
        add(f, &(links_link){LINKS_PHASE, g.phases[i], g.phases[i + 1],
                             end_of(v, &g.phases[i]),
                             begin_of(v, &g.phases[i + 1])});
    stage = facts_stage_at(&v->facts, begin_of(v, &first));
    each_transfer(v, v->tl->rows[first.row].index,
                  tl_number(view_lane_of(v, &first), first.slice),
                  begin_of(v, &first),
                  stage->row != UINT32_MAX ? stage->end
                                           : end_of(v, &g.phases[g.n - 1]) + 1,
                  see_transfer, &g);
}

/* --- waits ---------------------------------------------------------------- */

static uint32_t row_of_shave(const tl_timeline *tl, uint32_t shave)
{
    for (uint32_t k = 0; k < tl->n_rows; k++)
        if (tl->rows[k].kind == TL_ROW_SHAVE && tl->rows[k].index == shave)
            return k;
    return UINT32_MAX;
}

typedef struct {
    const view *v;
    uint64_t from, to; /* its end lies in (from, to] */
    bool found;
    uint64_t end;
    view_slice last;
} ending;

static void see_ending(void *user, const view_slice *t)
{
    ending *e = user;
    uint64_t end = end_of(e->v, t);

    if (end <= e->from || end > e->to || (e->found && end <= e->end))
        return;
    e->found = true;
    e->end = end;
    e->last = *t;
}

/* The SHAVE went on when the last of its transfers had ended. */
static bool transfer_of_wait(const view *v, const view_slice *wait,
                             view_slice *out)
{
    enum { LONGEST = 1 << 20 }; /* ticks before the wait that it may begin */
    uint64_t begin = begin_of(v, wait), end = end_of(v, wait);
    ending e = {.v = v, .from = begin, .to = end};

    each_transfer(v, v->tl->rows[wait->row].index, TL_NO_NUMBER,
                  begin > LONGEST ? begin - LONGEST : 0, end, see_ending, &e);
    *out = e.last;
    return e.found;
}

static bool is_wait(const view *v, const view_slice *s)
{
    const tl_row *r = &v->tl->rows[s->row];

    return r->kind == TL_ROW_SHAVE && !r->spread && s->lane == 1 &&
           tl_class_of(v->tl, tl_name_of(view_lane_of(v, s), s->slice)) ==
               TL_DMA_WAIT;
}

static void find_wait(finder *f, const view_slice *wait)
{
    view_slice t;

    if (transfer_of_wait(f->v, wait, &t))
        add(f, &(links_link){LINKS_ENDS, t, *wait, end_of(f->v, &t),
                             end_of(f->v, wait)});
}

/* The wait that ends with a transfer. */
static void find_waiting(finder *f, const view_slice *transfer)
{
    const view *v = f->v;
    uint64_t end = end_of(v, transfer);
    uint32_t shave;
    view_slice wait = {.lane = 1}, by;

    if (!end || !shave_of(v, transfer, &shave))
        return;
    wait.row = row_of_shave(v->tl, shave);
    if (wait.row == UINT32_MAX || v->tl->rows[wait.row].n_lanes < 2 ||
        !tl_slice_at(view_lane_of(v, &wait), end - 1, &wait.slice) ||
        !is_wait(v, &wait))
        return;
    if (transfer_of_wait(v, &wait, &by) && same(&by, transfer))
        find_wait(f, &wait);
}

/* --- both ----------------------------------------------------------------- */

/* A phase of the transfer's group: the last that begins before it. */
static bool phase_of_transfer(const view *v, const view_slice *t,
                              view_slice *phase)
{
    uint32_t shave, number = tl_number(view_lane_of(v, t), t->slice);
    const tl_lane *l;
    uint64_t i;

    if (!shave_of(v, t, &shave) || number == TL_NO_NUMBER)
        return false;
    *phase = (view_slice){.row = row_of_shave(v->tl, shave)};
    if (phase->row == UINT32_MAX || !v->tl->rows[phase->row].n_lanes)
        return false;
    l = view_lane_of(v, phase);
    i = tl_count_before(l, begin_of(v, t) + 1);
    for (int k = 0; k < LINKS_LOOK && i-- > 0; k++)
        if (tl_number(l, i) == number) {
            phase->slice = i;
            return true;
        }
    return false;
}

bool links_phase_at(const view *v, const view_slice *cause, view_slice *phase)
{
    const tl_row *r = &v->tl->rows[cause->row];

    *phase = (view_slice){.row = cause->row};
    return r->kind == TL_ROW_SHAVE && cause->lane == 1 &&
           tl_slice_at(&r->lanes[0], begin_of(v, cause), &phase->slice);
}

size_t links_of(const view *v, const view_slice *s, links_link out[LINKS_MAX])
{
    finder f = {.v = v, .out = out};
    const tl_row *r = &v->tl->rows[s->row];
    view_slice phase;
    size_t own = 0;

    if (r->kind == TL_ROW_SHAVE && !s->lane &&
        tl_number(view_lane_of(v, s), s->slice) != TL_NO_NUMBER)
        find_group(&f, s);
    else if (is_wait(v, s))
        find_wait(&f, s);
    else if (r->kind == TL_ROW_DMA) {
        find_waiting(&f, s);
        if (phase_of_transfer(v, s, &phase))
            find_group(&f, &phase);
    }
    for (size_t i = 0; i < f.n; i++)
        if (same(&out[i].from, s) || same(&out[i].to, s)) {
            links_link l = out[i];

            memmove(out + own + 1, out + own, (i - own) * sizeof *out);
            out[own++] = l;
        }
    return f.n;
}

bool links_follow(const view *v, const view_slice *s, int dir, view_slice *to)
{
    links_link all[LINKS_MAX];
    size_t n = links_of(v, s, all);
    bool found = false;
    uint64_t best = 0;

    view_bundle b;

    if (dir < 0 && view_bundle_of(v, s, &b))
        return b.reads && view_bundle_find(v, s, b.from, to);
    for (size_t i = 0; i < n; i++) {
        const links_link *l = &all[i];
        uint64_t t = dir < 0 ? l->leaves : l->arrives;

        if (!same(dir < 0 ? &l->to : &l->from, s) ||
            (found && (dir < 0 ? t <= best : t >= best)))
            continue;
        found = true;
        best = t;
        *to = dir < 0 ? l->from : l->to;
    }
    return found;
}

double links_rate(const view *v, const view_slice *transfer)
{
    const tl_lane *l = view_lane_of(v, transfer);
    double ns = tl_ns(v->tl, tl_length(l, transfer->slice));
    tl_arg bytes;

    if (v->tl->rows[transfer->row].kind != TL_ROW_DMA || !(ns > 0) ||
        !tl_slice_arg(v->tl, l, transfer->slice, "bytes", &bytes))
        return 0;
    return (double)bytes.number / ns;
}
