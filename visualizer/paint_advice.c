/* The panel of advice: what would make stages faster, with what it would save,
 * and what the critical path consists of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum { PAD = 14, LINE = 16, HEAD = 34, MAX_WORD = 300 };

typedef struct {
    cv_canvas *c;
    const paint_page *p;
    double x, y, w, bottom;
} column;

/* Where the next line stands; false: there is no room for it. */
static bool next(column *k, cv_slot *at)
{
    if (k->y + LINE > k->bottom)
        return false;
    *at = (cv_slot){k->x, k->y + LINE / 2.0, k->w};
    k->y += LINE;
    return true;
}

static void line(column *k, cv_font font, cv_color color, const char *text)
{
    cv_slot at;

    if (next(k, &at))
        cv_text_fit(k->c, at, font, color, text);
}

/* Text broken between words; a word that is wider than the panel is cut off. */
static void paragraph(column *k, cv_font font, cv_color color, const char *text)
{
    char row[MAX_WORD];
    size_t n = 0;

    text += strspn(text, " ");
    while (*text) {
        size_t word = strcspn(text, " "), more = n + (n > 0) + word;

        if (more >= sizeof row) { /* of other traces */
            word = sizeof row - 1 - n - (n > 0);
            while (word && (text[word] & 0xc0) == 0x80) /* whole characters */
                word--;
            more = n + (n > 0) + word;
        }
        if (n)
            row[n] = ' ';
        memcpy(row + n + (n > 0), text, word);
        row[more] = 0;
        if (n && (!word || cv_text_width(k->c, font, row) > k->w)) {
            row[n] = 0;
            line(k, font, color, row);
            n = 0;
            continue;
        }
        if (!word) /* one character that is longer than the row */
            return;
        n = more;
        text += word;
        text += strspn(text, " ");
    }
    if (n)
        line(k, font, color, row);
}

/* --- findings ------------------------------------------------------------- */

static void saves(const view *v, const facts_advice *f, char *to, size_t n)
{
    char gain[64], all[64];

    view_time_text(v, (double)(f->before - f->after), 0, gain, sizeof gain);
    view_time_text(v, (double)f->before, 0, all, sizeof all);
    snprintf(to, n, "%u  saves about %s of %s (%.0f %%)", f->rank, gain, all,
             f->before
                 ? 100 * (double)(f->before - f->after) / (double)f->before
                 : 0);
}

static void finding(column *k, const facts_advice *f, bool chosen)
{
    const theme *t = k->p->colors;
    double top = k->y - 4;
    char text[512];

    if (k->y + LINE > k->bottom)
        return;
    saves(k->p->view, f, text, sizeof text);
    line(k, CV_BOLD, t->text, text);
    snprintf(text, sizeof text, "%.150s%s%.120s", f->stage, f->line ? ", " : "",
             f->line ? f->file : "");
    if (f->line)
        snprintf(text + strlen(text), sizeof text - strlen(text), ":%u",
                 f->line);
    if (f->cause < TL_N_CAUSES)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", mostly %s",
                 tl_class_name(f->cause));
    line(k, CV_NORMAL, t->dim, text);
    paragraph(k, CV_NORMAL, t->text, f->text);
    if (*f->knob) {
        snprintf(text, sizeof text, "vpu whatif \xe2\x80\xa6 --knob %.200s",
                 f->knob);
        line(k, CV_MONO, t->dim, text);
    }
    if (chosen)
        cv_frame(k->c, (cv_box){k->x - 6, top, k->w + 12, k->y - top + 2},
                 t->select);
    k->y += 10;
}

uint32_t paint_advice_at(const paint_page *p, double y)
{
    paint_boxes b;

    paint_layout(p, &b);
    if (p->shows != PANEL_ADVICE || !p->advice || y < b.panel.y + HEAD)
        return 0;
    for (uint32_t i = 0; i < PAINT_ADVICE; i++)
        if (y < p->advice[i])
            return i + 1;
    return 0;
}

/* --- the critical path ---------------------------------------------------- */

/* Of the stage that is looked at. */
static void path(column *k)
{
    const view *v = k->p->view;
    const tl_timeline *tl = v->tl;
    const facts_stage *stage = paint_focus_of(v).stage;
    uint64_t sums[TL_N_CLASSES], all = 0;
    char text[200];

    if (v->advice && v->advice <= v->facts.n_advice)
        stage = facts_stage_at(&v->facts, v->facts.advice[v->advice - 1].time);
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        if (r->kind != TL_ROW_PATH || r->n_lanes < 2)
            continue;
        tl_sums(tl, &r->lanes[1], stage->begin, stage->end, sums);
        for (int c = 0; c < TL_N_CAUSES; c++)
            all += sums[c];
        snprintf(text, sizeof text, "Critical path of %.150s", stage->name);
        k->y += 6;
        line(k, CV_BOLD, k->p->colors->text, text);
        k->y += 4;
        paint_cause_bars(k->c, k->p,
                         (cv_box){k->x, k->y, k->w, k->bottom - k->y}, sums,
                         all);
        return;
    }
}

void paint_advice(cv_canvas *c, const paint_page *p, cv_box at)
{
    const facts *f = &p->view->facts;
    column k = {c, p, at.x + PAD, at.y + HEAD, at.w - 2 * PAD, at.y + at.h - 6};

    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    cv_clip(c, at);
    cv_text(c, k.x, at.y + 18, CV_BOLD, p->colors->text, "What would help");
    if (!f->n_advice)
        paragraph(&k, CV_NORMAL, p->colors->dim,
                  "No advice in this trace: nothing that is known saves a "
                  "fiftieth, or the run was not asked (vpu run --trace without "
                  "--no-advice, level groups or full).");
    for (uint32_t i = 0; i < f->n_advice; i++) {
        finding(&k, &f->advice[i], p->view->advice == i + 1);
        if (p->advice && i < PAINT_ADVICE)
            p->advice[i] = k.y;
    }
    path(&k);
    cv_unclip(c);
}

/* Above the stage that the chosen finding is about. */
void paint_advice_mark(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const view *v = p->view;
    const facts_stage *s;
    double x0, x1;

    if (!v->advice || v->advice > v->facts.n_advice)
        return;
    s = facts_stage_at(&v->facts, v->facts.advice[v->advice - 1].time);
    x0 = fmax(0, view_x(v, b->rows.w, (double)s->begin));
    x1 = fmin(b->rows.w, view_x(v, b->rows.w, (double)s->end));
    if (x1 > x0)
        cv_fill(c, (cv_box){b->rows.x + x0, b->rows.y - 4, x1 - x0, 3},
                p->colors->select);
}
