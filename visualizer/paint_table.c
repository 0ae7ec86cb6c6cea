/* The panel of slices: what there is how often, how long, as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum {
    PAD = 14,
    TABS = 50, /* middles of lines, from the panel's top */
    HEADS = 74,
    COLUMNS = 90,
    HEAD = 102, /* lines of the table begin */
    ITEM = 34,
    TAB = 58,
    TABS_AT = 76,
    SHAPE = 112 /* width of a histogram */
};

/* --- places --------------------------------------------------------------- */

static cv_box panel_box(const paint_page *p)
{
    paint_boxes b;

    paint_layout(p, &b);
    return b.panel;
}

/* Columns with numbers; the least has no room in a narrow panel. */
static int columns_of(cv_box at, table_column shown[TABLE_BY_NAME])
{
    bool narrow = at.w - 2 * PAD < 8 * 50;
    int n = 0;

    for (int c = 0; c < TABLE_BY_NAME; c++)
        if (!narrow || c != TABLE_BY_MIN)
            shown[n++] = (table_column)c;
    return n;
}

static uint32_t fit_of(cv_box at)
{
    return at.h > HEAD ? (uint32_t)((at.h - HEAD) / ITEM) : 0;
}

uint32_t paint_slices_last(const paint_page *p)
{
    uint32_t n = p->slices ? p->slices->shown.n_lines : 0;
    uint32_t fit = fit_of(panel_box(p));

    return n > fit ? n - fit : 0;
}

static uint32_t first_of(const paint_page *p)
{
    uint32_t last = paint_slices_last(p);

    return p->slices->first < last ? p->slices->first : last;
}

paint_slices_part paint_slices_at(const paint_page *p, double x, double y)
{
    static const paint_slices_part nothing;
    cv_box at = panel_box(p);
    table_column shown[TABLE_BY_NAME];
    int n = columns_of(at, shown);
    double each = (at.w - 2 * PAD) / n, line = floor((y - at.y - HEAD) / ITEM);

    x -= at.x + PAD;
    y -= at.y;
    if (p->shows != PANEL_SLICES || !p->slices || x < 0 || x >= each * n ||
        y < 0 || y >= at.h)
        return nothing;
    if (fabs(y - TABS) < 10 && x >= TABS_AT &&
        x < TABS_AT + TAB * TABLE_N_GROUPINGS)
        return (paint_slices_part){PAINT_GROUPING,
                                   (uint32_t)((x - TABS_AT) / TAB)};
    if (fabs(y - HEADS) < 8 && x < each * n - SHAPE)
        return (paint_slices_part){PAINT_COLUMN, TABLE_BY_NAME};
    if (fabs(y - COLUMNS) < 8)
        return (paint_slices_part){PAINT_COLUMN, shown[(int)(x / each)]};
    if (line < 0 || line >= fit_of(at) ||
        first_of(p) + line >= p->slices->shown.n_lines)
        return nothing;
    return (paint_slices_part){PAINT_LINE, first_of(p) + (uint32_t)line};
}

/* --- texts ---------------------------------------------------------------- */

/* "12.3 k" */
static void compact(char *to, size_t n, double value)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int u = 0;

    for (; u < 4 && value >= 999.5; u++)
        value /= 1000;
    if (!u && value == floor(value)) /* of cycles there are whole ones */
        snprintf(to, n, "%.0f", value);
    else
        paint_number(to, n, value);
    snprintf(to + strlen(to), n - strlen(to), "%s", units[u]);
}

/* "1.23 ms"; of a chosen unit the number alone, which the head names. */
static void short_time(const view *v, double ticks, char *to, size_t n)
{
    double ns = v->tl->clk_mhz ? ticks * 1000 / v->tl->clk_mhz : ticks;
    bool large = ns >= 999.5e3, middle = ns >= 999.5;

    if (v->unit == VIEW_AUTO) {
        paint_number(to, n, ns / (large ? 1e6 : middle ? 1e3 : 1));
        snprintf(to + strlen(to), n - strlen(to), " %s",
                 large    ? "ms"
                 : middle ? "\xc2\xb5s"
                          : "ns");
        return;
    }
    compact(to, n,
            v->unit == VIEW_CYCLES && v->tl->clk_mhz ? ticks
            : v->unit == VIEW_MS                     ? ns / 1e6
            : v->unit == VIEW_US                     ? ns / 1e3
                                                     : ns);
}

static void cell(const view *v, const table_line *l, table_column c, char *to,
                 size_t n)
{
    double ticks = c == TABLE_BY_TOTAL  ? (double)l->total
                   : c == TABLE_BY_MEAN ? table_mean(l)
                   : c == TABLE_BY_P50  ? (double)l->p50
                   : c == TABLE_BY_P99  ? (double)l->p99
                   : c == TABLE_BY_MIN  ? (double)l->min
                                        : (double)l->max;
    bool about = l->estimated && (c == TABLE_BY_P50 || c == TABLE_BY_P99);

    if (c == TABLE_BY_COUNT && l->count < 100000) {
        snprintf(to, n, "%u", (unsigned)l->count);
    } else if (c == TABLE_BY_COUNT) {
        compact(to, n, (double)l->count);
    } else if (c == TABLE_BY_SHARE) {
        snprintf(to, n, l->share < 0.0995 ? "%.1f %%" : "%.0f %%",
                 l->share * 100);
    } else if (c != TABLE_BY_TOTAL && !l->count) {
        snprintf(to, n, "\xe2\x80\x93"); /* nothing begins here */
    } else {
        snprintf(to, n, "%s", about ? "\xe2\x89\x88" : "");
        short_time(v, ticks, to + strlen(to), n - strlen(to));
    }
}

static void name_of(const table_line *l, char *to, size_t n)
{
    const char *name = l->rest ? "(other names)" : l->name;

    if (l->stage && *l->stage)
        snprintf(to, n, "%.120s: %.120s", l->stage, name);
    else
        snprintf(to, n, "%.200s", *name ? name : "(without a name)");
}

/* --- head ----------------------------------------------------------------- */

static bool has_causes(const table_result *r)
{
    return r->look.grouping == TABLE_STAGE || r->look.grouping == TABLE_PHASE;
}

/* Buckets that any line has, first <= last: all histograms have one scale. */
typedef struct {
    int first, last;
} scale;

static scale scale_of(const table_result *r)
{
    scale s = {TABLE_BUCKETS, -1};

    for (uint32_t i = 0; i < r->n_lines; i++)
        for (int b = 0; b < TABLE_BUCKETS; b++)
            if (r->lines[i].histogram[b]) {
                s.first = b < s.first ? b : s.first;
                s.last = b > s.last ? b : s.last;
            }
    return s;
}

static void paint_title(cv_canvas *c, const paint_page *p, cv_box at)
{
    const table *t = p->slices;
    const view *v = p->view;
    const table_result *r = &t->shown;
    uint32_t rows = view_area_rows(v);
    char text[200], time[64];

    if (r->area)
        snprintf(text, sizeof text, "Slices of the marked area: %u row%s", rows,
                 rows == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "Slices of %s",
                 v->has_range                           ? "the marked range"
                 : v->to - v->from >= (double)v->extent ? "the whole trace"
                                                        : "what is visible");
    cv_text_fit(c, (cv_slot){at.x + PAD, at.y + 16, at.w - 2 * PAD}, CV_BOLD,
                p->colors->text, text);
    view_time_text(v, (double)(r->to - r->from), 0, time, sizeof time);
    if (t->failed)
        snprintf(text, sizeof text, "not counted: out of memory");
    else if (t->work)
        snprintf(text, sizeof text, "counting\xe2\x80\xa6 %.0f %%",
                 100 * table_progress(t));
    else
        snprintf(text, sizeof text,
                 "%llu begin in these %s; click: next one, shift+click: the "
                 "longest",
                 (unsigned long long)r->n_slices, time);
    cv_text_fit(c, (cv_slot){at.x + PAD, at.y + 32, at.w - 2 * PAD}, CV_SMALL,
                p->colors->dim, text);
}

static void paint_tabs(cv_canvas *c, const paint_page *p, cv_box at,
                       table_grouping now)
{
    double x = at.x + PAD, y = at.y + TABS;

    cv_text(c, x, y, CV_SMALL, p->colors->dim, "grouped by");
    x += TABS_AT;
    for (int g = 0; g < TABLE_N_GROUPINGS; g++, x += TAB) {
        const char *name = table_grouping_name((table_grouping)g);
        double w = cv_text_width(c, CV_NORMAL, name);

        if ((int)now == g)
            cv_fill(c, (cv_box){x + 4, y + 9, w, 2}, p->colors->accent);
        cv_text(c, x + 4, y, CV_NORMAL,
                (int)now == g ? p->colors->text : p->colors->dim, name);
    }
}

static void column_name(const table_look *look, table_column c, char *to,
                        size_t n)
{
    bool up = look->reversed != (c == TABLE_BY_NAME);

    snprintf(to, n, "%s%s", table_column_name(c),
             look->column != c ? ""
             : up              ? " \xe2\x96\xb4"
                               : " \xe2\x96\xbe");
}

static void paint_columns(cv_canvas *c, const paint_page *p, cv_box at, scale s)
{
    const table_result *r = &p->slices->shown;
    table_column shown[TABLE_BY_NAME];
    int n = columns_of(at, shown);
    double each = (at.w - 2 * PAD) / n;
    char text[160], low[48], high[48];

    column_name(&r->look, TABLE_BY_NAME, text, sizeof text);
    cv_text(c, at.x + PAD, at.y + HEADS, CV_SMALL,
            r->look.column == TABLE_BY_NAME ? p->colors->text : p->colors->dim,
            text);
    for (int i = 0; i < n; i++) {
        column_name(&r->look, shown[i], text, sizeof text);
        cv_text_right(c, at.x + PAD + each * (i + 1), at.y + COLUMNS, CV_SMALL,
                      r->look.column == shown[i] ? p->colors->text
                                                 : p->colors->dim,
                      text);
    }
    cv_fill(c, (cv_box){at.x + PAD, at.y + HEAD - 3, at.w - 2 * PAD, 1},
            p->colors->line);
    if (has_causes(r) || s.last < 0) {
        snprintf(text, sizeof text, has_causes(r) ? "causes on SHAVEs" : "");
    } else {
        short_time(p->view, s.first ? ldexp(1, s.first - 1) : 0, low,
                   sizeof low);
        short_time(p->view, ldexp(1, s.last), high, sizeof high);
        snprintf(text, sizeof text, "%s \xe2\x80\xa6 %s", low, high);
    }
    cv_text_right(c, at.x + at.w - PAD, at.y + HEADS, CV_SMALL, p->colors->dim,
                  text);
}

/* --- lines ---------------------------------------------------------------- */

static void paint_histogram(cv_canvas *c, const paint_page *p,
                            const table_line *l, scale s, cv_box at)
{
    uint64_t most = 1;
    double w = at.w / (s.last - s.first + 1);

    for (int b = s.first; b <= s.last; b++)
        most = l->histogram[b] > most ? l->histogram[b] : most;
    cv_fill(c, (cv_box){at.x, at.y + at.h - 1, at.w, 1}, p->colors->line);
    for (int b = s.first; b <= s.last; b++) {
        double h = at.h * (double)l->histogram[b] / (double)most;

        if (!l->histogram[b])
            continue;
        h = fmax(h, 1);
        cv_fill(c,
                (cv_box){at.x + w * (b - s.first), at.y + at.h - h,
                         fmax(w - 1, 1), h},
                p->colors->area);
    }
}

static void paint_causes(cv_canvas *c, const paint_page *p, const table_line *l,
                         cv_box at)
{
    uint64_t all = 0;
    double x = at.x;

    for (int k = 0; k < TL_N_CAUSES; k++)
        all += l->cause[k];
    cv_fill(c, at, p->colors->line);
    for (int k = 0; k < TL_N_CAUSES && all; k++) {
        double w = at.w * (double)l->cause[k] / (double)all;

        cv_fill_pattern(c, (cv_box){x, at.y, w, at.h},
                        p->colors->class_color[k], p->colors->class_pattern[k]);
        x += w;
    }
}

/* As the rows have it: phases of work-groups have colours of their own. */
static void paint_swatch(cv_canvas *c, const paint_page *p, const table_line *l,
                         cv_box at)
{
    bool phase = l->kind == TL_ROW_SHAVE && !l->causes &&
                 l->class >= TL_OTHER && l->class < TL_OTHER + 3;

    if (phase)
        cv_fill(c, at, p->colors->phase[l->class - TL_OTHER]);
    else
        cv_fill_pattern(c, at, p->colors->class_color[l->class],
                        p->colors->class_pattern[l->class]);
}

static void paint_line(cv_canvas *c, const paint_page *p, const table_line *l,
                       scale s, cv_box at)
{
    table_column shown[TABLE_BY_NAME];
    cv_box panel = panel_box(p);
    int n = columns_of(panel, shown);
    double each = at.w / n, x = at.x, room = at.w - SHAPE - 24, w;
    cv_box shape = {at.x + at.w - SHAPE, at.y + 3, SHAPE, 12};
    char text[300], kind[200];

    if (!l->rest) {
        paint_swatch(c, p, l, (cv_box){x, at.y + 4, 10, 10});
        x += 16;
    }
    snprintf(kind, sizeof kind, "%s%s%.120s", table_kind(l),
             l->kernel && *l->kernel ? ", kernel " : "",
             l->kernel ? l->kernel : "");
    name_of(l, text, sizeof text);
    w = fmin(cv_text_width(c, CV_NORMAL, text), room);
    cv_text_fit(c, (cv_slot){x, at.y + 9, room}, CV_NORMAL, p->colors->text,
                text);
    if (w + cv_text_width(c, CV_SMALL, kind) + 8 < room && !l->rest)
        cv_text(c, x + w + 8, at.y + 9, CV_SMALL, p->colors->dim, kind);
    for (int i = 0; i < n; i++) {
        cell(p->view, l, shown[i], text, sizeof text);
        cv_text_right(c, at.x + each * (i + 1), at.y + 24, CV_SMALL,
                      p->slices->shown.look.column == shown[i] ? p->colors->text
                                                               : p->colors->dim,
                      text);
    }
    if (has_causes(&p->slices->shown))
        paint_causes(c, p, l, shape);
    else if (s.last >= 0)
        paint_histogram(c, p, l, s, shape);
}

static const char *why_empty(const table_result *r)
{
    static const char *const why[] = {
        [TABLE_NAME] = "No slices here.",
        [TABLE_STAGE] = "No stages here.",
        [TABLE_PHASE] = "No phases of work-groups here.",
        [TABLE_CAUSE] = "No SHAVEs here whose cycles are told."};

    return why[r->look.grouping];
}

void paint_table(cv_canvas *c, const paint_page *p, cv_box at)
{
    const table *t = p->slices;
    uint32_t first, chosen = UINT32_MAX, fit = fit_of(at);
    const table_result *r;
    scale buckets;

    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    if (!t)
        return;
    r = &t->shown;
    first = first_of(p);
    cv_clip(c, at);
    paint_title(c, p, at);
    paint_tabs(c, p, at, r->look.grouping);
    buckets = scale_of(r);
    paint_columns(c, p, at, buckets);
    if (p->view->has_selection && r->there)
        chosen = table_line_of(r, p->view, &p->view->selection);
    if (r->there && !r->n_lines)
        cv_text(c, at.x + PAD, at.y + HEAD + 14, CV_NORMAL, p->colors->dim,
                why_empty(r));
    for (uint32_t i = first; i < r->n_lines && i < first + fit; i++) {
        cv_box line = {at.x + PAD, at.y + HEAD + (double)(i - first) * ITEM,
                       at.w - 2 * PAD, ITEM - 2};

        if (i == chosen)
            cv_frame(c, (cv_box){line.x - 6, line.y, line.w + 12, line.h},
                     p->colors->select);
        paint_line(c, p, &r->lines[i], buckets, line);
    }
    cv_unclip(c);
}
