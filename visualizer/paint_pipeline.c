/* The bundles around the selected one, a line each, as they go through the
 * SHAVE: the cycles they waited, the cycle of issue, those until their results
 * are there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum {
    LINE = 15,
    HEAD = 60,
    PAD = 10,
    NUMBER = 40,
    BARS = 240,
    WHERE = 40,
    MAX_LINES = 256,
    MOST_GAP = 16, /* cycles of the axis between two bundles */
    MOST_WIDE = 12 /* pixels of a cycle */
};

typedef struct {
    view_slice at; /* the one in the middle */
    const tl_lane *l;
    uint64_t first;
    uint32_t n; /* lines */
} listing;

static bool list(const paint_page *p, double height, listing *l)
{
    double lines = floor((height - HEAD) / LINE);
    uint64_t all, before;

    if (lines < 1 || !view_bundle_near(p->view, &l->at))
        return false;
    l->l = &p->view->tl->rows[l->at.row].lanes[0];
    all = l->l->n_slices;
    l->n = (uint32_t)fmin(fmin(lines, MAX_LINES), (double)all);
    before = l->n / 2;
    l->first = l->at.slice > before ? l->at.slice - before : 0;
    if (l->first + l->n > all)
        l->first = all - l->n;
    return true;
}

bool paint_bundle_at(const paint_page *p, double y, view_slice *out)
{
    paint_boxes b;
    listing l;
    double line;

    paint_layout(p, &b);
    line = floor((y - b.panel.y - HEAD) / LINE);
    if (p->shows != PANEL_PIPELINE || line < 0 || !list(p, b.panel.h, &l) ||
        line >= l.n)
        return false;
    *out = (view_slice){.row = l.at.row, .slice = l.first + (uint32_t)line};
    return true;
}

/* --- a line --------------------------------------------------------------- */

typedef struct {
    cv_canvas *c;
    const paint_page *p;
    listing l;
    cv_box at; /* of the lines */
    view_bundle chosen;
    double wide;             /* of a cycle */
    double place[MAX_LINES]; /* of a line's cycle of issue */
    view_bundle here;        /* the line's */
    double y;
} painter;

static double bars_of(const painter *k)
{
    return k->at.x + PAD + NUMBER;
}

/* Where bundles are on an axis of issue cycles. A phase follows the one before;
 * what is long is cut short. */
static void place_lines(painter *k)
{
    double at = 0, end = 1;
    view_bundle b;
    uint64_t last = 0;

    for (uint32_t i = 0; i < k->l.n; i++) {
        view_slice s = {.row = k->l.at.row, .slice = k->l.first + i};

        view_bundle_of(k->p->view, &s, &b);
        if (i)
            at += b.cycle > last ? fmin((double)(b.cycle - last), MOST_GAP) : 1;
        else
            at = fmin((double)b.waited, MOST_GAP);
        last = b.cycle;
        k->place[i] = at;
        end = fmax(end, at + fmin((double)b.latency, MOST_GAP));
    }
    k->wide = fmin(BARS / end, MOST_WIDE);
}

static void paint_bars(painter *k, uint32_t i)
{
    const theme *t = k->p->colors;
    const view_bundle *b = &k->here;
    double x = bars_of(k) + k->place[i] * k->wide, y = k->y;
    double left = i ? k->place[i - 1] + 1 : 0;
    double waited = fmin((double)b->waited, k->place[i] - left);
    double latency = fmin((double)b->latency, MOST_GAP);

    if (waited > 0)
        cv_fill(
            k->c,
            (cv_box){x - waited * k->wide, y + LINE / 2.0, waited * k->wide, 1},
            t->dim);
    cv_fill(k->c,
            (cv_box){x + k->wide, y + 4, (latency - 1) * k->wide, LINE - 8},
            t->area_light);
    cv_fill(k->c, (cv_box){x, y + 2, fmax(k->wide, 1), LINE - 4},
            t->class_color[TL_ISSUE]);
}

/* What the SHAVE did meanwhile; the longest. */
static void put_stall(const painter *k, char *to, size_t n)
{
    int most = -1;

    to[0] = 0;
    for (int c = 0; c < TL_N_CAUSES; c++)
        if (k->here.stalls[c] &&
            (most < 0 || k->here.stalls[c] > k->here.stalls[most]))
            most = c;
    if (most < 0)
        return;
    snprintf(to, n,
             "after %llu %s:  ", (unsigned long long)k->here.stalls[most],
             tl_class_name((tl_class)most));
    cv_fill(k->c, (cv_box){k->at.x + PAD, k->y, NUMBER + BARS, 1.5},
            k->p->colors->class_color[most]);
}

static void paint_line(painter *k, uint32_t i)
{
    const theme *t = k->p->colors;
    const view *v = k->p->view;
    const view_bundle *b = &k->here;
    double middle = k->y + LINE / 2.0, x = bars_of(k) + BARS;
    bool own = k->l.first + i == k->l.at.slice;
    char text[600], number[24], stall[80];

    if (own)
        cv_fill(k->c, (cv_box){k->at.x + 1, k->y, k->at.w - 1, LINE}, t->page);
    snprintf(number, sizeof number, "%llu", (unsigned long long)b->number);
    cv_text_right(k->c, bars_of(k) - 8, middle, CV_SMALL,
                  k->chosen.reads && b->number == k->chosen.from ? t->select
                                                                 : t->dim,
                  number);
    paint_bars(k, i);
    put_stall(k, stall, sizeof stall);
    if (b->line) {
        bool chosen = v->line_file && v->line == b->line &&
                      !strcmp(v->line_file, b->file);

        snprintf(number, sizeof number, "%u", b->line);
        if (chosen)
            cv_frame(k->c, (cv_box){x + 6, k->y, WHERE - 10, LINE}, t->select);
        cv_text_right(k->c, x + WHERE - 8, middle, CV_SMALL,
                      b->line == k->chosen.line ? t->text : t->dim, number);
    }
    x += WHERE;
    snprintf(text, sizeof text, "%s%s", stall, b->text);
    cv_text_fit(k->c, (cv_slot){x, middle, k->at.x + k->at.w - PAD - x},
                CV_SMALL, t->text, text);
    if (own)
        cv_frame(k->c, (cv_box){k->at.x + 2, k->y, k->at.w - 4, LINE},
                 t->select);
}

/* From the bundle whose result the chosen one reads, down to it. */
static void paint_needs(const painter *k)
{
    uint64_t own = k->l.at.slice - k->l.first, back;
    double x = bars_of(k) + k->place[own] * k->wide, y0;

    if (!k->chosen.reads || k->chosen.from >= k->chosen.number)
        return;
    back = k->chosen.number - k->chosen.from;
    y0 = back > own ? 0 : (double)(own - back) * LINE + LINE / 2.0;
    cv_fill(k->c, (cv_box){x, k->at.y + y0, 1, (double)own * LINE - y0 + 2},
            k->p->colors->select);
}

/* The selection is a phase of a group that the trace has no bundles of. */
static bool other_group(const view *v, uint64_t group, uint32_t *number)
{
    const view_slice *s = &v->selection;

    if (!v->has_selection || s->lane ||
        v->tl->rows[s->row].kind != TL_ROW_SHAVE)
        return false;
    *number = tl_number(&v->tl->rows[s->row].lanes[0], s->slice);
    return *number != TL_NO_NUMBER && *number != group;
}

/* k: NULL, the trace has none. */
static void paint_head(cv_canvas *c, const paint_page *p, const painter *k,
                       cv_box at)
{
    char text[160] = "No bundles in this trace", below[300];
    uint32_t other;

    snprintf(below, sizeof below,
             "vpu run --trace FILE --trace-bundles N has work-group N's");
    if (k) {
        snprintf(text, sizeof text, "Bundles of work-group %llu on SHAVE %u",
                 (unsigned long long)k->chosen.group,
                 p->view->tl->rows[k->l.at.row].index);
        snprintf(below, sizeof below, "bundle %llu, in vpu asm %.20s%s%.200s",
                 (unsigned long long)k->chosen.number, k->chosen.place,
                 k->chosen.why[0] ? ": " : "", k->chosen.why);
    }
    if (other_group(p->view, k ? k->chosen.group : UINT64_MAX, &other))
        snprintf(below, sizeof below,
                 "vpu run --trace FILE --trace-bundles %u has work-group %u's",
                 other, other);
    cv_text(c, at.x + PAD, at.y + 14, CV_BOLD, p->colors->text, text);
    if (k && view_bundles_cut(p->view, k->l.at.row))
        cv_text_right(c, at.x + at.w - PAD, at.y + 14, CV_NORMAL,
                      p->colors->warn, "the first ones alone");
    cv_text_fit(c, (cv_slot){at.x + PAD, at.y + 31, at.w - 2 * PAD}, CV_SMALL,
                p->colors->dim, below);
    if (!k || !k->chosen.line)
        return;
    snprintf(below, sizeof below, "%.80s:%u  %.180s", k->chosen.file,
             k->chosen.line,
             paint_trim(
                 facts_text(&p->view->facts, k->chosen.file, k->chosen.line)));
    cv_text_fit(c, (cv_slot){at.x + PAD, at.y + 47, at.w - 2 * PAD}, CV_SMALL,
                p->colors->text, below);
}

void paint_pipeline(cv_canvas *c, const paint_page *p, cv_box at)
{
    painter k = {.c = c, .p = p, .at = at};
    bool any = list(p, at.h, &k.l);

    k.at.y += HEAD;
    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    cv_clip(c, at);
    if (any)
        view_bundle_of(p->view, &k.l.at, &k.chosen);
    paint_head(c, p, any ? &k : NULL, at);
    if (any)
        place_lines(&k);
    for (uint32_t i = 0; any && i < k.l.n; i++) {
        view_slice s = {.row = k.l.at.row, .slice = k.l.first + i};

        k.y = k.at.y + i * LINE;
        view_bundle_of(p->view, &s, &k.here);
        paint_line(&k, i);
    }
    if (any)
        paint_needs(&k);
    cv_unclip(c);
}
