/* The kernel's source with what each line cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum { LINE = 15, HEAD = 44, PAD = 10, NUMBER = 30, BAR = 90, COUNT = 52 };

const char *paint_trim(const char *text)
{
    return text + strspn(text, " \t");
}

/* --- what is looked at --------------------------------------------------- */

/* The phase around a slice of a SHAVE's row. */
static const char *phase_of(const view *v, const view_slice *s)
{
    const tl_row *r = &v->tl->rows[s->row];
    uint64_t i = s->slice;

    if (r->kind != TL_ROW_SHAVE ||
        (s->lane &&
         !tl_slice_at(&r->lanes[0], tl_begin(&r->lanes[s->lane], i), &i)))
        return NULL;
    return tl_text(v->tl, tl_name_of(&r->lanes[0], i));
}

/* The phase of its group that a bundle is of. */
static const char *phase_of_bundle(const view *v, const view_slice *s)
{
    const tl_row *r = &v->tl->rows[s->row];
    uint64_t t = tl_begin(&r->lanes[s->lane], s->slice), i;

    for (uint32_t k = 0; k < v->n_rows; k++) {
        const tl_row *shave = &v->tl->rows[v->rows[k].row];

        if (shave->kind == TL_ROW_SHAVE && shave->index == r->index &&
            tl_slice_at(&shave->lanes[0], t, &i))
            return tl_text(v->tl, tl_name_of(&shave->lanes[0], i));
    }
    return NULL;
}

static void look_at_bundle(const view *v, paint_focus *f)
{
    view_bundle b;

    if (!view_bundle_of(v, &v->selection, &b))
        return;
    f->phase = phase_of_bundle(v, &v->selection);
    f->has_line = b.line && b.file[0];
    f->line = (facts_cost){.file = b.file, .line = b.line};
}

static void look_at_selection(const view *v, paint_focus *f)
{
    const view_slice *s = &v->selection;
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    tl_class class = tl_class_of(v->tl, tl_name_of(l, s->slice));
    tl_arg a;

    f->stage = facts_stage_at(&v->facts, tl_begin(l, s->slice));
    f->phase = phase_of(v, s);
    look_at_bundle(v, f);
    if (r->kind == TL_ROW_SHAVE && s->lane && class < TL_N_CAUSES)
        f->cause = class;
    if (r->kind == TL_ROW_DMA && v->facts.n_lines &&
        tl_slice_arg(v->tl, l, s->slice, "source line", &a) &&
        a.kind == TL_ARG_UINT && a.number) {
        f->has_line = true;
        f->line = (facts_cost){.file = v->facts.lines[0].file,
                               .line = (uint32_t)a.number};
        for (uint32_t i = 0; i < v->facts.n_costs; i++)
            if (!strcmp(v->facts.costs[i].stage, f->stage->name))
                f->line.file = v->facts.costs[i].file;
    }
}

paint_focus paint_focus_of(const view *v)
{
    double middle = fmax((v->from + v->to) / 2, 0);
    paint_focus f = {.stage = facts_stage_at(&v->facts, (uint64_t)middle),
                     .cause = TL_N_CAUSES};
    uint64_t all = 0;

    if (v->has_selection)
        look_at_selection(v, &f);
    if (f.has_line)
        return f;
    f.has_line = facts_hottest(&v->facts, f.stage, f.phase, f.cause, &f.line);
    for (uint32_t i = 0; f.has_line && i < v->facts.n_costs; i++) {
        const facts_cost *c = &v->facts.costs[i];

        if (c->time == f.stage->begin && !strcmp(c->stage, f.stage->name) &&
            (!f.phase || !strcmp(c->phase, f.phase)))
            all += f.cause < TL_N_CAUSES ? c->cause[f.cause] : c->total;
    }
    if (all)
        f.share = (double)(f.cause < TL_N_CAUSES ? f.line.cause[f.cause]
                                                 : f.line.total) /
                  (double)all;
    return f;
}

/* --- the page of text ---------------------------------------------------- */

typedef struct {
    paint_focus focus;
    const facts_line *lines; /* of the file */
    uint32_t n, first, shown;
    uint64_t most; /* cycles that the longest bar stands for */
} listing;

static listing list(const view *v, double height)
{
    listing l = {.focus = paint_focus_of(v), .most = 1};
    const facts *f = &v->facts;
    const char *file = l.focus.has_line ? l.focus.line.file
                       : f->n_lines     ? f->lines[0].file
                                        : "";
    uint32_t begin = 0, hot = l.focus.has_line ? l.focus.line.line : 1;
    double first;

    while (begin < f->n_lines && strcmp(f->lines[begin].file, file))
        begin++;
    l.lines = f->lines + begin;
    while (begin + l.n < f->n_lines && !strcmp(l.lines[l.n].file, file))
        l.n++;
    l.shown = (uint32_t)fmax(0, (height - HEAD) / LINE);
    first = (double)hot - l.shown / 2.0 + v->source_scroll;
    first = fmin(first, (double)l.n - l.shown);
    l.first = first > 0 ? (uint32_t)first : 0;
    if (l.shown > l.n - l.first)
        l.shown = l.n - l.first;
    return l;
}

uint32_t paint_line_at(const paint_page *p, double y, const char **file)
{
    paint_boxes b;
    listing l;
    double row;

    paint_layout(p, &b);
    l = list(p->view, b.panel.h);
    row = floor((y - b.panel.y - HEAD) / LINE);
    *file = NULL;
    if (p->shows != PANEL_SOURCE || row < 0 || row >= l.shown)
        return 0;
    *file = l.lines[l.first + (uint32_t)row].file;
    return l.lines[l.first + (uint32_t)row].line;
}

static uint64_t weight(const facts_cost *c, tl_class cause)
{
    return cause < TL_N_CAUSES ? c->cause[cause] : c->total;
}

static void paint_bar(cv_canvas *c, const paint_page *p, const listing *l,
                      double x, double y, const facts_cost *cost)
{
    tl_class cause = l->focus.cause;
    uint64_t shown = weight(cost, cause);
    uint64_t most = shown > l->most ? shown : l->most;
    char text[32];
    double at = x;

    for (int k = 0; k < TL_N_CAUSES; k++) {
        double w = BAR * (double)cost->cause[k] / (double)most;

        if (!cost->cause[k] || (cause < TL_N_CAUSES && (int)cause != k))
            continue;
        cv_fill_pattern(c, (cv_box){at, y + 2, fmax(w, 0.5), LINE - 5},
                        p->colors->class_color[k], p->colors->class_pattern[k]);
        at += w;
    }
    if (shown >= 1000000)
        snprintf(text, sizeof text, "%.1f M", (double)shown / 1e6);
    else if (shown >= 10000)
        snprintf(text, sizeof text, "%.0f k", (double)shown / 1e3);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)shown);
    cv_text_right(c, x + BAR + COUNT - 8, y + LINE / 2.0, CV_SMALL,
                  p->colors->dim, text);
}

/* Without the first n characters. */
static const char *skip(const char *text, size_t *n)
{
    while (*n && *text) {
        do
            text++;
        while ((*text & 0xc0) == 0x80);
        (*n)--;
    }
    return text;
}

/* Tabs became blanks in the trace; what is indented stays so. Part by part,
 * each in its colour, from the pane's first column on. */
static void paint_code(cv_canvas *c, const paint_page *p, const char *text,
                       cv_slot at, bool in_comment)
{
    enum { INDENT = 12 }; /* what is far to the right would not be seen */
    const char *code = paint_trim(text);
    size_t indent = (size_t)fmin((double)(code - text), INDENT);
    size_t hidden = (size_t)p->view->source_column;
    double em = cv_text_width(c, CV_MONO, "m"), x = at.x;
    bool begins = true;
    code_kind kind;
    char part[512];

    x += em * (double)(indent > hidden ? indent - hidden : 0);
    hidden = hidden > indent ? hidden - indent : 0;
    for (size_t n; x < at.x + at.room &&
                   (n = code_next(code, begins, &in_comment, &kind));
         code += n) {
        const char *from;

        snprintf(part, sizeof part, "%.*s", (int)n, code);
        from = skip(part, &hidden);
        if (*from)
            x += cv_text(c, x, at.y, CV_MONO, p->colors->code[kind], from);
        begins = false;
    }
}

/* Whether a comment is open where line i begins; of a file whose comments are
 * longer than this looks back, it may be wrong. */
static bool in_comment_at(const listing *l, uint32_t i)
{
    enum { BACK = 2000 };
    bool open = false;

    for (uint32_t k = i > BACK ? i - BACK : 0; k < i; k++)
        open = code_after(l->lines[k].text, open);
    return open;
}

static void paint_head(cv_canvas *c, const paint_page *p, const listing *l,
                       cv_box at)
{
    const paint_focus *f = &l->focus;
    char text[300];

    cv_text(c, at.x + PAD, at.y + 14, CV_BOLD, p->colors->text,
            l->n ? l->lines[0].file : "No source in this trace");
    if (!l->n)
        snprintf(text, sizeof text, "traces of vpu run, level groups or full");
    else if (!p->view->facts.n_costs)
        snprintf(text, sizeof text,
                 "cycles per line: vpu run --profile --trace FILE");
    else
        snprintf(text, sizeof text, "%.80s%s%s: %s of all SHAVEs, cycles",
                 f->stage->name, f->phase ? ", " : "", f->phase ? f->phase : "",
                 f->cause < TL_N_CAUSES ? tl_class_name(f->cause) : "time");
    cv_text_fit(c, (cv_slot){at.x + PAD, at.y + 31, at.w - 2 * PAD}, CV_SMALL,
                p->colors->dim, text);
}

void paint_source(cv_canvas *c, const paint_page *p, cv_box at)
{
    const view *v = p->view;
    listing l = list(v, at.h);
    bool in_comment = in_comment_at(&l, l.first);
    double x = at.x + PAD;

    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    cv_clip(c, at);
    paint_head(c, p, &l, at);
    if (l.focus.has_line && l.focus.line.total) {
        facts_cost all = facts_cost_of(&v->facts, l.focus.stage, l.focus.phase,
                                       l.focus.line.file, l.focus.line.line);

        l.most = weight(&all, l.focus.cause);
    }
    if (l.focus.has_line && !l.focus.line.total) {
        facts_cost hot; /* elsewhere: of a transfer, of a bundle */

        if (facts_hottest(&v->facts, l.focus.stage, l.focus.phase,
                          l.focus.cause, &hot)) {
            hot = facts_cost_of(&v->facts, l.focus.stage, l.focus.phase,
                                hot.file, hot.line);
            l.most = weight(&hot, l.focus.cause);
        }
    }
    for (uint32_t i = 0; i < l.shown; i++) {
        const facts_line *line = &l.lines[l.first + i];
        facts_cost cost = facts_cost_of(&v->facts, l.focus.stage, l.focus.phase,
                                        line->file, line->line);
        bool hot = l.focus.has_line && line->line == l.focus.line.line;
        bool chosen = v->line_file && v->line == line->line &&
                      !strcmp(v->line_file, line->file);
        double y = at.y + HEAD + i * LINE;
        char number[16];

        if (hot)
            cv_fill(c, (cv_box){at.x + 1, y, at.w - 1, LINE}, p->colors->page);
        if (chosen)
            cv_frame(c, (cv_box){at.x + 2, y, at.w - 4, LINE},
                     p->colors->select);
        snprintf(number, sizeof number, "%u", line->line);
        cv_text_right(c, x + NUMBER - 8, y + LINE / 2.0, CV_SMALL,
                      p->colors->dim, number);
        if (weight(&cost, l.focus.cause))
            paint_bar(c, p, &l, x + NUMBER, y, &cost);
        paint_code(c, p, line->text,
                   (cv_slot){x + NUMBER + BAR + COUNT, y + LINE / 2.0,
                             at.w - NUMBER - BAR - COUNT - PAD},
                   in_comment);
        in_comment = code_after(line->text, in_comment);
    }
    cv_unclip(c);
}
