/* Keys, text and mouse buttons as changes of the views; the page painted with
 * panels and messages. */
#include "visualizer/control_priv.h"
#include "visualizer/tools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT_STEP = 1 << 16 }; /* slices: a few milliseconds */

enum { RIGHT = 3 }; /* button */

view *control_focused(control *k)
{
    return k->views[k->focus];
}

static bool is_shown(const control *k, int i)
{
    if (k->n_views < 2 || k->mode == COMPARE_BOTH)
        return true;
    return i == (k->mode == COMPARE_B);
}

/* A selected group or stage is selected in the other trace as well. */
void control_link_selection(control *k)
{
    const view *v = control_focused(k);
    const compare_row *r = NULL;

    if (!k->cmp)
        return;
    if (v->has_selection)
        r = compare_of_slice(k->cmp, k->focus, &v->selection);
    if (r && r->in[!k->focus] && r->at[!k->focus].row != UINT32_MAX)
        view_select(k->views[!k->focus], &r->at[!k->focus]);
    else
        view_select(k->views[!k->focus], NULL);
}

/* The other trace shows the same stretch. */
void control_link_views(control *k)
{
    if (k->n_views == 2) {
        view_move(k->views[!k->focus], control_focused(k)->from,
                  control_focused(k)->to);
        k->views[!k->focus]->unit = control_focused(k)->unit;
    }
}

void control_boxes(const control *k, paint_boxes *b)
{
    paint_layout(&k->pages[k->focus], b);
}

static void say(control *k, const char *text)
{
    snprintf(k->status, sizeof k->status, "%s", text);
}

static const char hint[] =
    "? help   W S zoom   A D move   / search   drag: move, shift+drag: measure";

void control_init(control *k, view *a, const char *title_a, view *b,
                  const char *title_b)
{
    *k = (control){.views = {a, b},
                   .titles = {title_a, title_b},
                   .n_views = b ? 2 : 1,
                   .text_scale = 1,
                   .mouse_x = -1};
    control_resize(k, 1280, 800);
    say(k, hint);
}

static void clamp_scroll(control *k)
{
    for (int i = 0; i < k->n_views; i++) {
        paint_boxes b;
        double most;

        paint_layout(&k->pages[i], &b);
        most = fmax(0, k->views[i]->height - b.rows.h);
        k->views[i]->scroll = fmin(fmax(k->views[i]->scroll, 0), most);
    }
}

void control_resize(control *k, double width, double height)
{
    k->width = width;
    k->height = height;
    for (int i = 0; i < k->n_views; i++) {
        bool all = k->n_views == 1 || k->mode != COMPARE_BOTH;
        double h = all ? height : height / k->n_views;

        k->pages[i] = (paint_page){
            .view = k->views[i],
            .cmp = k->cmp,
            .side = i,
            .under =
                k->cmp && k->mode == COMPARE_OVERLAY && !i ? k->views[1] : NULL,
            .shows = paint_shows(k->shows, !all, i),
            .change = k->change,
            .slices = k->tables[i],
            .colors = k->dark ? &theme_dark : &theme_light,
            .title = k->titles[i],
            .legend = k->legend[i],
            .advice = k->advice[i],
            .beside = k->n_views == 2 ? k->views[!i]->tl : NULL,
            .area = {0, all ? 0 : h * i, width, h},
            .panel = true,
            .panel_width = k->panel_width[paint_shows(k->shows, !all, i)],
            .minimap = true,
            .status = all || i + 1 == k->n_views ? k->status : NULL};
    }
    if (!is_shown(k, k->focus))
        k->focus = !k->focus;
    if (k->help > control_help_pages(k))
        k->help = control_help_pages(k);
    clamp_scroll(k);
}

/* --- hovering ------------------------------------------------------------ */

/* "search: comp_   3 of 120" */
static void tell_hits(control *k)
{
    const view_hits *h = &k->hits;
    char hits[96] = "";

    if (k->failed_search || (h->on && h->done && !h->total))
        snprintf(hits, sizeof hits, "   (nothing found)");
    else if (h->on && !h->done)
        snprintf(hits, sizeof hits, "   \u2265 %llu, counting\u2026",
                 (unsigned long long)h->total);
    else if (h->on && k->hit)
        snprintf(hits, sizeof hits, "   %llu of %llu%s",
                 (unsigned long long)k->hit, (unsigned long long)h->total,
                 k->searching ? "" : "   n N: next, previous");
    snprintf(k->status, sizeof k->status, "search: %s%s%s", k->search,
             k->searching ? "_" : "", hits);
}

static bool heat_under_mouse(const control *k, view_point *out)
{
    paint_boxes b;
    double x, y;

    paint_layout(&k->pages[k->focus], &b);
    x = k->mouse_x - b.rows.x;
    y = k->mouse_y - b.rows.y;
    return k->drag == DRAG_NONE && y >= 0 && y < b.rows.h &&
           view_heat_at(k->views[k->focus], b.rows.w, x,
                        y + k->views[k->focus]->scroll, out);
}

/* "rows: dma_   2 of 24; commas between several" */
static void tell_filter(control *k, const view *v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n_rows; i++)
        n += !view_is_hidden(v, &v->rows[i]);
    snprintf(k->status, sizeof k->status,
             "rows: %s_   %u of %u; commas between several, Esc: all",
             v->filter, n, v->n_rows);
}

void control_tell_hover(control *k)
{
    view_point at;

    paint_page *p = &k->pages[k->focus];
    const view *v = p->view;
    char name[300], length[64], begin[64];
    const tl_lane *l;

    if (k->filtering) {
        tell_filter(k, v);
        return;
    }
    if (k->searching || (k->tells_hits && k->hits.on)) {
        tell_hits(k);
        return;
    }
    if (heat_under_mouse(k, &at)) {
        paint_heat_point(v, &at, k->status, sizeof k->status);
        return;
    }
    if (!p->has_hover) {
        say(k, hint);
        return;
    }
    l = view_lane_of(v, &p->hover);
    tl_slice_name(v->tl, l, p->hover.slice, name, sizeof name);
    view_time_text(v, (double)tl_length(l, p->hover.slice), 0, length,
                   sizeof length);
    view_time_text(v, (double)tl_begin(l, p->hover.slice), 0, begin,
                   sizeof begin);
    snprintf(k->status, sizeof k->status, "%s: %.100s, takes %s, begins at %s",
             v->tl->rows[p->hover.row].name, name, length, begin);
}

void control_hover(control *k)
{
    for (int i = 0; i < k->n_views; i++)
        if (is_shown(k, i) && k->mouse_y >= k->pages[i].area.y)
            k->focus = i;
    for (int i = 0; i < k->n_views; i++) {
        paint_page *p = &k->pages[i];
        paint_boxes b;

        paint_layout(p, &b);
        p->hover_x = k->mouse_x;
        p->hover_y = k->mouse_y;
        p->has_hover =
            i == k->focus && k->drag == DRAG_NONE && k->mouse_y >= b.rows.y &&
            k->mouse_y < b.rows.y + b.rows.h &&
            k->mouse_x < b.rows.x + b.rows.w &&
            view_hit(p->view, b.rows.w, k->mouse_x - b.rows.x,
                     k->mouse_y - b.rows.y + p->view->scroll, &p->hover);
    }
    control_tell_hover(k);
}

/* The tick under the mouse, or the middle. */
double control_anchor(const control *k)
{
    const view *v = k->views[k->focus];
    paint_boxes b;

    control_boxes(k, &b);
    if (k->mouse_x < b.rows.x || k->mouse_x > b.rows.x + b.rows.w)
        return (v->from + v->to) / 2;
    return view_t(v, b.rows.w, k->mouse_x - b.rows.x);
}

void control_refresh(control *k)
{
    for (int i = 0; i < k->n_views; i++)
        if (k->tables[i])
            table_clear(k->tables[i]);
    if (k->hits.on)
        control_begin_hits(k);
    control_resize(k, k->width, k->height);
    control_hover(k);
}

/* Selects the chosen row of the list in both traces and goes there. */
void control_go_to_change(control *k)
{
    const compare_row *r = &k->cmp->rows[k->cmp->slower[k->change - 1]];

    for (int i = 0; i < 2; i++) {
        if (r->at[i].row == UINT32_MAX)
            continue;
        view_select(k->views[i], &r->at[i]);
        if (i == k->focus)
            view_reveal(k->views[i], &r->at[i]);
    }
}

/* --- counting ------------------------------------------------------------ */

void control_begin_hits(control *k)
{
    const view *v = control_focused(k);

    k->hits_in = k->focus;
    view_hits_begin(&k->hits, v, k->search, v->from);
    k->hit = 0;
}

/* Of the hits the selected one, or while a text is typed the next one. */
static void count_hits(control *k)
{
    view_hits *h = &k->hits;

    if (view_hits_step(h, k->views[k->hits_in], COUNT_STEP) || !h->total)
        return;
    k->hit = h->before + 1;
    if (k->searching)
        k->hit = (h->before + h->at) % h->total + 1;
    else if (!h->at)
        k->hit = 0;
}

static bool shows_table(const control *k, int i)
{
    return k->shows == PANEL_SLICES && is_shown(k, i) && k->tables[i];
}

bool control_count(control *k)
{
    bool changed = k->hits.on && !k->hits.done;

    if (changed) {
        count_hits(k);
        control_tell_hover(k);
    }
    for (int i = 0; i < k->n_views; i++) {
        if (!shows_table(k, i))
            continue;
        table_want(k->tables[i], k->views[i], &k->look);
        if (!k->tables[i]->work)
            continue;
        table_step(k->tables[i], COUNT_STEP);
        changed = true;
        if (!k->tables[i]->work &&
            k->tables[i]->first > paint_slices_last(&k->pages[i]))
            k->tables[i]->first = paint_slices_last(&k->pages[i]);
    }
    return changed;
}

bool control_counts(const control *k)
{
    bool more = k->hits.on && !k->hits.done;

    for (int i = 0; i < k->n_views; i++)
        more |= shows_table(k, i) && k->tables[i]->work;
    return more;
}

/* What has ticks in the visible stretch is seen; its row may be elsewhere. */
void control_go_to_slice(control *k, const view_slice *s)
{
    view *v = control_focused(k);
    const tl_lane *l = view_lane_of(v, s);
    paint_boxes b;

    view_select(v, s);
    if ((double)tl_end(l, s->slice) <= v->from ||
        (double)tl_begin(l, s->slice) >= v->to)
        view_reveal(v, s);
    control_boxes(k, &b);
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].row == s->row && v->rows[i].h > 0) {
            v->scroll = fmin(v->scroll, v->rows[i].y);
            v->scroll = fmax(v->scroll, v->rows[i].y + v->rows[i].h - b.rows.h);
        }
    clamp_scroll(k);
    control_link_selection(k);
}

/* --- mouse --------------------------------------------------------------- */

static bool in_box(const cv_box *b, double x, double y)
{
    return x >= b->x && x < b->x + b->w && y >= b->y && y < b->y + b->h;
}

static void to_minimap(control *k, const paint_boxes *b, double x)
{
    view *v = control_focused(k);
    double t = (x - b->minimap.x) / b->minimap.w * (double)v->extent;
    double half = (v->to - v->from) / 2;

    view_move(v, t - half, t + half);
}

/* Another grouping or column; a line: its next slice, or its longest. */
static void press_slices(control *k, double x, double y, unsigned mods)
{
    const paint_page *p = &k->pages[k->focus];
    paint_slices_part at = paint_slices_at(p, x, y);
    view_slice s;

    if (at.what == PAINT_GROUPING) {
        k->look.grouping = (table_grouping)at.which;
        k->tables[k->focus]->first = 0;
    } else if (at.what == PAINT_COLUMN) {
        table_sort_by(&k->look, (table_column)at.which);
    } else if (at.what == PAINT_LINE) {
        const table_result *r = &p->slices->shown;

        if (mods & MOD_SHIFT && !r->lines[at.which].rest)
            control_go_to_slice(k, &r->lines[at.which].longest);
        else if (table_next(r, p->view, at.which, &s))
            control_go_to_slice(k, &s);
    }
}

void control_choose_advice(control *k, uint32_t finding)
{
    view *v = control_focused(k);
    const facts_advice *f;
    const facts_stage *s;

    if (v->advice)
        v->line_file = NULL;
    v->only = 0;
    if (finding > v->facts.n_advice || finding == v->advice) {
        v->advice = 0;
        return;
    }
    f = &v->facts.advice[finding - 1];
    v->advice = finding;
    if (f->cause < TL_N_CAUSES)
        v->only = (int)f->cause + 1;
    if (f->line) {
        v->line_file = f->file;
        v->line = f->line;
    }
    s = facts_stage_at(&v->facts, f->time);
    if ((double)s->begin >= v->to || (double)s->end <= v->from)
        view_show(v, (double)s->begin, (double)s->end);
}

/* A line of the source, again: none; a row of the list; a finding. */
static void press_panel(control *k, double x, double y, unsigned mods)
{
    view *v = control_focused(k);
    const paint_page *p = &k->pages[k->focus];
    const char *file = NULL;
    uint32_t line = paint_line_at(p, y, &file);
    uint64_t change = paint_change_at(p, y);
    view_slice bundle;

    if (file) {
        bool again =
            v->line_file && v->line == line && !strcmp(v->line_file, file);

        v->line_file = again ? NULL : file;
        v->line = line;
    }
    if (change) {
        k->change = change;
        control_go_to_change(k);
    }
    if (paint_advice_at(p, y))
        control_choose_advice(k, paint_advice_at(p, y));
    if (paint_bundle_at(p, y, &bundle))
        control_go_to_slice(k, &bundle);
    press_slices(k, x, y, mods);
    control_resize(k, k->width, k->height);
}

bool control_types(const control *k)
{
    return k->searching || k->filtering || control_chooses(k);
}

/* What keys and the mouse are for. */
bool control_chooses(const control *k)
{
    return k->choose && k->choose->open;
}

/* A class of the legend alone; again, or beside them: all. */
static void press_legend(control *k, double x)
{
    int only = 0, was = control_focused(k)->only;

    for (int c = 0; c < TL_OTHER; c++)
        if (x >= k->legend[k->focus][c].x && x < k->legend[k->focus][c].end)
            only = c + 1;
    for (int i = 0; i < k->n_views; i++)
        k->views[i]->only = only == was ? 0 : only;
}

/* The panel's left edge, which can be dragged. */
static bool on_edge(const paint_boxes *b, double x, double y)
{
    return b->panel.w > 0 && fabs(x - b->panel.x) < 4 && y >= b->panel.y &&
           y < b->panel.y + b->panel.h;
}

/* The thumb's upper end is that far below the bar's. */
static void scroll_bar(control *k, const paint_boxes *b, double y)
{
    view *v = control_focused(k);
    double room = b->bar.h - b->thumb.h;

    if (room > 0)
        v->scroll = y / room * (v->height - b->rows.h);
    clamp_scroll(k);
}

/* Of the first page that is shown. */
static tools_place tools_place_of(const control *k)
{
    int i = is_shown(k, 0) ? 0 : 1;
    paint_boxes b;

    paint_layout(&k->pages[i], &b);
    return (tools_place){b.title, k->cmp != NULL};
}

/* Its command, as if the mouse were nowhere; text that was typed stays as it
 * is.
 */
static void press_tool(control *k, uint32_t key)
{
    double x = k->mouse_x;

    k->searching = k->filtering = false;
    k->mouse_x = -1;
    control_key(k, key, 0);
    k->mouse_x = x;
    control_hover(k);
}

bool control_press(control *k, double x, double y, int button, int clicks,
                   unsigned mods)
{
    const tools_place tools = tools_place_of(k);
    view *v;
    paint_boxes b;

    if (control_chooses(k))
        return chooser_press(k->choose, x, y, clicks);
    if (k->menu.open) { /* whatever the button */
        uint32_t key;

        if (menu_choose(&k->menu, x, y, &key, &mods)) {
            k->mouse_x = k->menu.x; /* not what lies behind the menu */
            k->mouse_y = k->menu.y;
            control_key(k, key, mods);
        }
        k->mouse_x = x;
        k->mouse_y = y;
        control_hover(k);
        return true;
    }
    k->button = button;
    k->mouse_x = x;
    k->mouse_y = y;
    control_hover(k);
    if (button == 1 && tools_at(&tools, x, y)) {
        press_tool(k, tools_at(&tools, x, y));
        return true;
    }
    v = control_focused(k);
    control_boxes(k, &b);
    k->moved = false;
    k->drag_x = x;
    k->drag_y = y;
    k->drag_from = v->from;
    k->drag_to = v->to;
    k->drag_scroll = v->scroll;
    k->drag_rows = in_box(&b.rows, x, y);
    if (on_edge(&b, x, y)) {
        k->drag = DRAG_PANEL;
    } else if (in_box(&b.panel, x, y)) {
        press_panel(k, x, y, mods);
    } else if (in_box(&b.legend, x, y)) {
        press_legend(k, x);
    } else if (in_box(&b.bar, x, y)) {
        k->drag = DRAG_SCROLL;
        if (!in_box(&b.thumb, x, y)) /* there at once */
            scroll_bar(k, &b, y - b.thumb.h / 2 - b.bar.y);
        k->drag_scroll = v->scroll;
    } else if (in_box(&b.minimap, x, y)) {
        k->drag = DRAG_MINIMAP;
        to_minimap(k, &b, x);
    } else if (clicks == 2 && in_box(&b.rows, x, y)) {
        view_fit(v);
    } else if (in_box(&b.axis, x, y) || button != 1 ||
               (mods & MOD_SHIFT && in_box(&b.rows, x, y))) {
        k->drag = DRAG_MARK;
    } else if (in_box(&b.rows, x, y)) {
        k->drag = DRAG_PAN;
    }
    control_link_views(k);
    return true;
}

bool control_motion(control *k, double x, double y)
{
    view *v = control_focused(k);
    paint_boxes b;
    double per;

    if (control_chooses(k))
        return false;
    k->mouse_x = x;
    k->mouse_y = y;
    if (k->drag == DRAG_NONE) {
        k->tells_hits = false;
        control_hover(k);
        return true;
    }
    control_boxes(k, &b);
    per = (k->drag_to - k->drag_from) / b.rows.w;
    if (fabs(x - k->drag_x) + fabs(y - k->drag_y) > 3)
        k->moved = true;
    if (!k->moved)
        return false;
    if (k->drag == DRAG_PAN) {
        view_move(v, k->drag_from - (x - k->drag_x) * per,
                  k->drag_to - (x - k->drag_x) * per);
        v->scroll = k->drag_scroll - (y - k->drag_y);
        clamp_scroll(k);
    } else if (k->drag == DRAG_MARK) {
        view_mark(v, view_t(v, b.rows.w, k->drag_x - b.rows.x),
                  view_t(v, b.rows.w, x - b.rows.x));
        if (k->drag_rows)
            view_mark_rows(v, k->drag_y - b.rows.y + v->scroll,
                           y - b.rows.y + v->scroll);
    } else if (k->drag == DRAG_PANEL) {
        const paint_page *p = &k->pages[k->focus];

        k->panel_width[p->shows] = fmax(p->area.x + p->area.w - x, 1);
        control_resize(k, k->width, k->height);
    } else if (k->drag == DRAG_SCROLL) {
        double room = b.bar.h - b.thumb.h, rows = v->height - b.rows.h;

        scroll_bar(k, &b,
                   (rows > 0 ? k->drag_scroll / rows * room : 0) + y -
                       k->drag_y);
    } else {
        to_minimap(k, &b, x);
    }
    control_link_views(k);
    return true;
}

/* For the slice under the mouse, which is selected, and the row. */
static void open_menu(control *k)
{
    const paint_page *p = &k->pages[k->focus];
    view *v = control_focused(k);
    paint_boxes b;
    unsigned has = 0;

    control_boxes(k, &b);
    if (!in_box(&b.rows, k->mouse_x, k->mouse_y) &&
        !in_box(&b.labels, k->mouse_x, k->mouse_y))
        return;
    view_select(v, p->has_hover ? &p->hover : NULL);
    control_link_selection(k);
    if (v->has_selection)
        has |= MENU_SLICE;
    if (v->has_selection ||
        view_row_at(v, k->mouse_y - b.rows.y + v->scroll) != UINT32_MAX)
        has |= MENU_ROW;
    menu_open(&k->menu, has, k->mouse_x, k->mouse_y, k->width, k->height);
}

bool control_release(control *k, double x, double y)
{
    control_drag was = k->drag;
    view *v = control_focused(k);

    if (control_chooses(k))
        return false;
    k->drag = DRAG_NONE;
    k->mouse_x = x;
    k->mouse_y = y;
    control_hover(k);
    if (k->moved && (was == DRAG_PAN || was == DRAG_MINIMAP))
        view_show(v, v->from, v->to);
    if (!k->moved && was == DRAG_PAN) {
        view_point at;

        view_select(v, k->pages[k->focus].has_hover ? &k->pages[k->focus].hover
                                                    : NULL);
        if (heat_under_mouse(k, &at))
            view_choose(v, &at);
    }
    if (!k->moved && was == DRAG_PAN)
        control_link_selection(k);
    if (!k->moved && was == DRAG_MARK && k->button == RIGHT)
        open_menu(k);
    else if (!k->moved && was == DRAG_MARK)
        v->has_range = false;
    return was != DRAG_NONE;
}

/* That so many notches of the wheel move a list. */
static double lines_of(double notches)
{
    return fmin(fmax(notches, -8), 8) * 3;
}

/* The selection goes along the list. */
static bool scroll_bundles(control *k, double y)
{
    view *v = control_focused(k);
    view_slice s;
    double last;

    if (!view_bundle_near(v, &s))
        return true;
    last = (double)(v->tl->rows[s.row].lanes[0].n_slices - 1);
    s.slice = (uint64_t)fmin(fmax((double)s.slice - lines_of(y), 0), last);
    control_go_to_slice(k, &s);
    return true;
}

bool control_wheel(control *k, double x, double y, unsigned mods)
{
    view *v = control_focused(k);
    paint_boxes b;

    if (control_chooses(k))
        return chooser_wheel(k->choose, y);
    control_boxes(k, &b);
    if (k->shows == PANEL_SOURCE && in_box(&b.panel, k->mouse_x, k->mouse_y)) {
        if (mods & MOD_SHIFT) {
            x -= y;
            y = 0;
        }
        v->source_column =
            fmin(fmax(v->source_column + fmin(fmax(x, -8), 8) * 4, 0), 200);
        v->source_scroll -= lines_of(y);
        v->source_scroll = fmin(fmax(v->source_scroll, -1e5), 1e5);
        return true;
    }
    if (shows_table(k, k->focus) && in_box(&b.panel, k->mouse_x, k->mouse_y)) {
        table *t = k->tables[k->focus];
        double last = paint_slices_last(&k->pages[k->focus]);

        t->first =
            (uint32_t)fmin(fmax((double)t->first - lines_of(y), 0), last);
        return true;
    }
    if (k->shows == PANEL_PIPELINE && in_box(&b.panel, k->mouse_x, k->mouse_y))
        return scroll_bundles(k, y);
    if (mods & MOD_CTRL)
        v->scroll -= y * 60;
    else if (mods & MOD_SHIFT)
        view_pan(v, -y * 0.1);
    else if (y != 0)
        view_zoom(v, pow(0.8, fmin(fmax(y, -8), 8)), control_anchor(k));
    view_pan(v, fmin(fmax(x, -8), 8) * 0.1);
    control_link_views(k);
    clamp_scroll(k);
    control_hover(k);
    return true;
}

/* --- painting ------------------------------------------------------------ */

enum { HELP_LINE = 22, HELP_FRAME = 54 };

/* Keys on a page of the help. */
static size_t help_fits(const control *k)
{
    double room = (k->height - HELP_FRAME) / HELP_LINE;

    return room < 1 ? 1 : (size_t)room;
}

unsigned control_help_pages(const control *k)
{
    size_t n = control_help_rows(NULL), fits = help_fits(k);

    return (unsigned)((n + fits - 1) / fits);
}

static void paint_help(const control *k, cv_canvas *c)
{
    const theme *colors = k->pages[0].colors;
    const control_help *rows;
    size_t all = control_help_rows(&rows), fits = help_fits(k);
    size_t first = (k->help - 1) * fits;
    size_t n = first >= all ? 0 : all - first < fits ? all - first : fits;
    unsigned pages = control_help_pages(k);
    double w = fmin(k->width, 560), h = (double)n * HELP_LINE + HELP_FRAME;
    double x = (k->width - w) / 2, y = fmax((k->height - h) / 2, 0);
    char title[64] = "Keys";

    if (pages > 1)
        snprintf(title, sizeof title, "Keys (%u of %u, ? goes on)", k->help,
                 pages);
    cv_fill(c, (cv_box){x, y, w, h}, colors->panel);
    cv_frame(c, (cv_box){x, y, w, h}, colors->strong_line);
    cv_text(c, x + 20, y + 22, CV_TITLE, colors->text, title);
    for (size_t i = 0; i < n; i++) {
        double ly = y + 52 + (double)i * HELP_LINE;

        cv_text(c, x + 20, ly, CV_BOLD, colors->text, rows[first + i].keys);
        cv_text_fit(c, (cv_slot){x + 250, ly, w - 262}, CV_NORMAL, colors->text,
                    rows[first + i].text);
    }
}

static void paint_loading(const control *k, cv_canvas *c)
{
    const theme *colors = k->pages[0].colors;
    double w = fmin(k->width - 32, 640), h = 72;
    double x = (k->width - w) / 2, y = (k->height - h) / 2;

    cv_fill(c, (cv_box){x, y, w, h}, colors->panel);
    cv_frame(c, (cv_box){x, y, w, h}, colors->strong_line);
    cv_text_fit(c, (cv_slot){x + 20, y + 26, w - 40}, CV_NORMAL, colors->text,
                k->loading);
    cv_text_fit(c, (cv_slot){x + 20, y + 50, w - 40}, CV_SMALL, colors->dim,
                "Esc: show what has been read by now");
}

static void paint_tools(const control *k, cv_canvas *c)
{
    tools_place at = tools_place_of(k);
    uint32_t key =
        k->drag == DRAG_NONE ? tools_at(&at, k->mouse_x, k->mouse_y) : 0;
    const control_help *help = key ? control_help_of(key) : NULL;
    char tip[160];

    if (help)
        snprintf(tip, sizeof tip, "%s  (%s)", help->text, help->keys);
    tools_paint(&at, c, k->pages[0].colors, k->mouse_x, k->mouse_y,
                help ? tip : NULL);
}

void control_paint(control *k, cv_canvas *c)
{
    for (int i = 0; i < k->n_views; i++)
        if (is_shown(k, i))
            paint(c, &k->pages[i]);
    paint_tools(k, c);
    if (k->help)
        paint_help(k, c);
    if (k->menu.open)
        menu_paint(&k->menu, c, k->pages[0].colors, k->mouse_x, k->mouse_y);
    if (control_chooses(k))
        chooser_paint(k->choose, c, k->pages[0].colors, k->width, k->height);
    if (k->loading)
        paint_loading(k, c);
}
