/* Keys, text and mouse buttons as changes of the views; the page painted with
 * panels and messages. */
#include "visualizer/control.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static view *focused(control *k)
{
    return k->v[k->focus];
}

static bool is_shown(const control *k, int i)
{
    if (k->n < 2 || k->mode == COMPARE_BOTH)
        return true;
    return i == (k->mode == COMPARE_B);
}

/* A selected group or stage is selected in the other trace as well. */
static void link_selection(control *k)
{
    const view *v = focused(k);
    const compare_row *r = NULL;

    if (!k->cmp)
        return;
    if (v->has_selection)
        r = compare_of_slice(k->cmp, k->focus, &v->selection);
    if (r && r->in[!k->focus] && r->at[!k->focus].row != UINT32_MAX)
        view_select(k->v[!k->focus], &r->at[!k->focus]);
    else
        view_select(k->v[!k->focus], NULL);
}

/* The other trace shows the same stretch. */
static void link_views(control *k)
{
    if (k->n == 2) {
        view_move(k->v[!k->focus], focused(k)->from, focused(k)->to);
        k->v[!k->focus]->unit = focused(k)->unit;
    }
}

static void boxes(const control *k, paint_boxes *b)
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
    *k = (control){.v = {a, b},
                   .titles = {title_a, title_b},
                   .n = b ? 2 : 1,
                   .text_scale = 1,
                   .mouse_x = -1};
    control_resize(k, 1280, 800);
    say(k, hint);
}

static void clamp_scroll(control *k)
{
    for (int i = 0; i < k->n; i++) {
        paint_boxes b;
        double most;

        paint_layout(&k->pages[i], &b);
        most = fmax(0, k->v[i]->height - b.rows.h);
        k->v[i]->scroll = fmin(fmax(k->v[i]->scroll, 0), most);
    }
}

void control_resize(control *k, double width, double height)
{
    k->width = width;
    k->height = height;
    for (int i = 0; i < k->n; i++) {
        bool all = k->n == 1 || k->mode != COMPARE_BOTH;
        double h = all ? height : height / k->n;

        k->pages[i] = (paint_page){
            .v = k->v[i],
            .cmp = k->cmp,
            .side = i,
            .under =
                k->cmp && k->mode == COMPARE_OVERLAY && !i ? k->v[1] : NULL,
            .shows = paint_shows(k->shows, !all, i),
            .change = k->change,
            .colors = k->dark ? &theme_dark : &theme_light,
            .title = k->titles[i],
            .beside = k->n == 2 ? k->v[!i]->tl : NULL,
            .area = {0, all ? 0 : h * i, width, h},
            .panel = true,
            .minimap = true,
            .status = all || i + 1 == k->n ? k->status : NULL};
    }
    if (!is_shown(k, k->focus))
        k->focus = !k->focus;
    clamp_scroll(k);
}

/* --- hovering ------------------------------------------------------------ */

static void tell_hover(control *k)
{
    paint_page *p = &k->pages[k->focus];
    const view *v = p->v;
    char name[300], length[64], begin[64];
    const tl_lane *l;

    if (k->searching) {
        snprintf(k->status, sizeof k->status, "search: %s_%s", k->search,
                 k->failed_search ? "   (nothing found)" : "");
        return;
    }
    if (!p->has_hover) {
        say(k, hint);
        return;
    }
    l = &v->tl->rows[p->hover.row].lanes[p->hover.lane];
    tl_slice_name(v->tl, l, p->hover.slice, name, sizeof name);
    view_time_text(v, (double)tl_length(l, p->hover.slice), 0, length,
                   sizeof length);
    view_time_text(v, (double)l->begin[p->hover.slice], 0, begin, sizeof begin);
    snprintf(k->status, sizeof k->status, "%s: %.100s, takes %s, begins at %s",
             v->tl->rows[p->hover.row].name, name, length, begin);
}

static void hover(control *k)
{
    for (int i = 0; i < k->n; i++)
        if (is_shown(k, i) && k->mouse_y >= k->pages[i].area.y)
            k->focus = i;
    for (int i = 0; i < k->n; i++) {
        paint_page *p = &k->pages[i];
        paint_boxes b;

        paint_layout(p, &b);
        p->hover_x = k->mouse_x;
        p->hover_y = k->mouse_y;
        p->has_hover =
            i == k->focus && k->drag == DRAG_NONE && k->mouse_y >= b.rows.y &&
            k->mouse_y < b.rows.y + b.rows.h &&
            k->mouse_x < b.rows.x + b.rows.w &&
            view_hit(p->v, b.rows.w, k->mouse_x - b.rows.x,
                     k->mouse_y - b.rows.y + p->v->scroll, &p->hover);
    }
    tell_hover(k);
}

/* The tick under the mouse, or the middle. */
static double anchor(const control *k)
{
    const view *v = k->v[k->focus];
    paint_boxes b;

    boxes(k, &b);
    if (k->mouse_x < b.rows.x || k->mouse_x > b.rows.x + b.rows.w)
        return (v->from + v->to) / 2;
    return view_t(v, b.rows.w, k->mouse_x - b.rows.x);
}

/* --- commands ------------------------------------------------------------ */

static void find(control *k, int dir)
{
    view_slice s;

    k->failed_search = !view_search(focused(k), k->search, dir, &s);
    if (k->failed_search)
        return;
    view_select(focused(k), &s);
    view_reveal(focused(k), &s);
}

/* Neighbours of the selection: along the lane, or to the next row. */
static void step_selection(control *k, int along, int down)
{
    view *v = focused(k);
    view_slice s = v->selection;
    const tl_lane *l;
    double t, y, x;
    paint_boxes b;

    boxes(k, &b);
    if (!v->has_selection) {
        for (uint32_t i = 0; i < v->n_rows && !v->has_selection; i++)
            if (view_hit(v, b.rows.w, b.rows.w / 2, v->rows[i].y + 1, &s))
                view_select(v, &s);
        return;
    }
    l = &v->tl->rows[s.row].lanes[s.lane];
    if (along) {
        if (along < 0 ? s.slice == 0 : s.slice + 1 >= l->n)
            return;
        s.slice += along < 0 ? UINT64_MAX : 1;
        view_select(v, &s);
        view_reveal(v, &s);
        return;
    }
    t = fmin(fmax((double)l->begin[s.slice] + (double)tl_length(l, s.slice) / 2,
                  v->from),
             v->to);
    x = fmin(view_x(v, b.rows.w, t), b.rows.w - 1);
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].row == s.row) {
            y = v->rows[i].y + (down > 0 ? v->rows[i].h : -1);
            for (; y >= 0 && y < v->height; y += down)
                if (view_hit(v, b.rows.w, x, y, &s)) {
                    view_select(v, &s);
                    return;
                }
            return;
        }
}

static void zoom_to_selection(control *k)
{
    view *v = focused(k);
    double a, span;
    const tl_lane *l;

    if (v->has_range) {
        view_show(v, (double)v->range_from, (double)v->range_to);
        return;
    }
    if (!v->has_selection)
        return;
    l = &v->tl->rows[v->selection.row].lanes[v->selection.lane];
    a = (double)l->begin[v->selection.slice];
    span = fmax((double)tl_length(l, v->selection.slice), 1);
    view_show(v, a - span * 0.1, a + span * 1.1);
}

static void mark_selection(control *k)
{
    view *v = focused(k);
    const tl_lane *l;
    double a;

    if (v->has_range || !v->has_selection) {
        v->has_range = false;
        return;
    }
    l = &v->tl->rows[v->selection.row].lanes[v->selection.lane];
    a = (double)l->begin[v->selection.slice];
    view_mark(v, a, a + (double)tl_length(l, v->selection.slice));
}

/* The row commands are for: the selection's, else the one under the mouse. */
static uint32_t row_meant(control *k)
{
    view *v = focused(k);
    paint_boxes b;

    boxes(k, &b);
    if (k->mouse_x >= 0 && k->mouse_y >= b.rows.y && !v->has_selection)
        return view_row_at(v, k->mouse_y - b.rows.y + v->scroll);
    for (uint32_t i = 0; v->has_selection && i < v->n_rows; i++)
        if (v->rows[i].row == v->selection.row)
            return i;
    return UINT32_MAX;
}

static bool row_key(control *k, uint32_t key)
{
    view *v = focused(k);
    uint32_t at;

    if (key == 'H') {
        for (uint32_t i = 0; i < v->n_rows; i++)
            view_hide(v, i, false);
        return true;
    }
    if (!key || key > 127 || !strchr("fFphJK", (int)key) ||
        (at = row_meant(k)) == UINT32_MAX)
        return false;
    if (key == 'f')
        view_fold(v, at, !v->rows[at].folded);
    else if (key == 'F')
        view_fold_kind(v, at);
    else if (key == 'p')
        view_pin(v, at, !v->rows[at].pinned);
    else if (key == 'h')
        view_hide(v, at, true);
    else
        view_raise(v, at, key == 'J' ? 1 : -1);
    return true;
}

static void bookmark(control *k, uint32_t key, bool set)
{
    view *v = focused(k);
    uint32_t i = key - '1';

    if (set) {
        k->bookmarks[i].set = k->bookmarks_changed = true;
        k->bookmarks[i].from = v->from;
        k->bookmarks[i].to = v->to;
    } else if (k->bookmarks[i].set) {
        view_show(v, k->bookmarks[i].from, k->bookmarks[i].to);
    }
}

static bool move_key(control *k, uint32_t key, unsigned mods)
{
    view *v = focused(k);
    double page = mods & MOD_SHIFT ? 0.5 : 0.12;

    if ((mods & MOD_ALT && key == KEY_LEFT) || key == KEY_BACKSPACE)
        view_back(v);
    else if (mods & MOD_ALT && key == KEY_RIGHT)
        view_forward(v);
    else if (key == 'w' || key == 'W' || key == '+' || key == '=')
        view_zoom(v, 0.7, anchor(k));
    else if (key == 's' || key == 'S' || key == '-')
        view_zoom(v, 1 / 0.7, anchor(k));
    else if (key == 'a' || key == 'A' || key == KEY_LEFT)
        view_pan(v, -page);
    else if (key == 'd' || key == 'D' || key == KEY_RIGHT)
        view_pan(v, page);
    else if (key == '0' || key == KEY_HOME)
        view_fit(v);
    else if (key == KEY_ENTER)
        zoom_to_selection(k);
    else if (key == KEY_PAGE_UP || key == KEY_PAGE_DOWN)
        v->scroll += key == KEY_PAGE_UP ? -200 : 200;
    else
        return false;
    return true;
}

/* Selects the chosen row of the list in both traces and goes there. */
static void go_to_change(control *k)
{
    const compare_row *r = &k->cmp->rows[k->cmp->slower[k->change - 1]];

    for (int i = 0; i < 2; i++) {
        if (r->at[i].row == UINT32_MAX)
            continue;
        view_select(k->v[i], &r->at[i]);
        if (i == k->focus)
            view_reveal(k->v[i], &r->at[i]);
    }
}

static bool panel_key(control *k, uint32_t key)
{
    view *v = focused(k);

    if (key == 'l') {
        k->shows = k->shows == PANEL_SOURCE ? PANEL_FIGURES : PANEL_SOURCE;
    } else if (key == 'c' && k->cmp) {
        k->shows = k->shows == PANEL_CHANGES ? PANEL_FIGURES : PANEL_CHANGES;
    } else if (key == 'v' && k->cmp) {
        k->mode = (compare_mode)((k->mode + 1) % COMPARE_N_MODES);
        k->v[0]->tall = k->mode == COMPARE_OVERLAY;
        view_layout(k->v[0]);
    } else if ((key == ']' || key == '[') && k->cmp && k->cmp->n_slower) {
        if (key == ']' && k->change < k->cmp->n_slower)
            k->change++;
        else if (key == '[' && k->change > 1)
            k->change--;
        k->shows = PANEL_CHANGES;
        go_to_change(k);
    } else if (key == '.' || key == ',') { /* the source by keyboard */
        paint_focus f = paint_focus_of(v);
        const char *file = v->line_file ? v->line_file
                           : f.has_line ? f.line.file
                                        : NULL;

        if (!file)
            return true;
        if (!v->line_file)
            v->line = f.line.line;
        else if (key == '.' && v->line < UINT32_MAX)
            v->line++;
        else if (key == ',' && v->line > 1)
            v->line--;
        v->line_file = file;
        k->shows = PANEL_SOURCE;
    } else {
        return false;
    }
    return true;
}

static bool mode_key(control *k, uint32_t key, unsigned mods)
{
    view *v = focused(k);

    if (key == '?') {
        k->help = !k->help;
    } else if (key == '/') {
        k->searching = true;
        k->failed_search = false;
        k->search[0] = 0;
    } else if (key == 'n' || key == 'N') {
        find(k, key == 'n' ? 1 : -1);
    } else if (key == KEY_TAB) {
        step_selection(k, mods & MOD_SHIFT ? -1 : 1, 0);
    } else if (key == KEY_UP || key == KEY_DOWN) {
        step_selection(k, 0, key == KEY_UP ? -1 : 1);
    } else if (key == 'm') {
        mark_selection(k);
    } else if (key == 'u') {
        v->unit = (view_unit)((v->unit + 1) % (VIEW_MS + 1));
    } else if (key == 't') {
        k->dark = !k->dark;
    } else if (key == 'e') {
        k->export = true;
    } else if (key == 'q') {
        k->quit = true;
    } else if (key >= '1' && key <= '9') {
        bookmark(k, key, mods & MOD_CTRL);
    } else if (key == KEY_ESCAPE) {
        if (!k->help) {
            v->has_range = false;
            view_select(v, NULL);
            v->line_file = NULL;
        }
        k->help = false;
    } else {
        return false;
    }
    return true;
}

static bool search_key(control *k, uint32_t key)
{
    size_t n = strlen(k->search);

    if (key == KEY_ESCAPE) {
        k->searching = false;
    } else if (key == KEY_ENTER) {
        find(k, 1);
        k->searching = k->failed_search;
    } else if (key == KEY_BACKSPACE && n) {
        do /* a whole character */
            k->search[--n] = 0;
        while (n && (k->search[n - 1] & 0xc0) == 0x80);
        if (n && (k->search[n - 1] & 0xc0) == 0xc0)
            k->search[--n] = 0;
    } else {
        return false;
    }
    return true;
}

bool control_key(control *k, uint32_t key, unsigned mods)
{
    bool changed;

    if (k->searching)
        changed = search_key(k, key);
    else
        changed = move_key(k, key, mods) || mode_key(k, key, mods) ||
                  panel_key(k, key) || row_key(k, key);
    if (!changed)
        return false;
    link_views(k);
    if (key != '[' && key != ']')
        link_selection(k);
    control_resize(k, k->width, k->height);
    hover(k);
    return true;
}

void control_refresh(control *k)
{
    control_resize(k, k->width, k->height);
    hover(k);
}

bool control_text(control *k, const char *utf8)
{
    size_t n = strlen(k->search), more = strlen(utf8);

    if (!k->searching || n + more >= sizeof k->search)
        return false;
    memcpy(k->search + n, utf8, more + 1);
    k->failed_search = false;
    tell_hover(k);
    return true;
}

/* --- mouse --------------------------------------------------------------- */

static bool in_box(const paint_box *b, double x, double y)
{
    return x >= b->x && x < b->x + b->w && y >= b->y && y < b->y + b->h;
}

static void to_minimap(control *k, const paint_boxes *b, double x)
{
    view *v = focused(k);
    double t = (x - b->minimap.x) / b->minimap.w * (double)v->extent;
    double half = (v->to - v->from) / 2;

    view_move(v, t - half, t + half);
}

/* A line of the source, again: none; a row of the list. */
static void press_panel(control *k, double y)
{
    view *v = focused(k);
    const paint_page *p = &k->pages[k->focus];
    const char *file = NULL;
    uint32_t line = paint_line_at(p, y, &file);
    uint64_t change = paint_change_at(p, y);

    if (file) {
        bool again =
            v->line_file && v->line == line && !strcmp(v->line_file, file);

        v->line_file = again ? NULL : file;
        v->line = line;
    }
    if (change) {
        k->change = change;
        go_to_change(k);
    }
    control_resize(k, k->width, k->height);
}

bool control_press(control *k, double x, double y, int button, int clicks,
                   unsigned mods)
{
    view *v;
    paint_boxes b;

    k->mouse_x = x;
    k->mouse_y = y;
    hover(k);
    v = focused(k);
    boxes(k, &b);
    k->moved = false;
    k->drag_x = x;
    k->drag_y = y;
    k->drag_from = v->from;
    k->drag_to = v->to;
    k->drag_scroll = v->scroll;
    if (in_box(&b.panel, x, y)) {
        press_panel(k, y);
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
    link_views(k);
    return true;
}

bool control_motion(control *k, double x, double y)
{
    view *v = focused(k);
    paint_boxes b;
    double per;

    k->mouse_x = x;
    k->mouse_y = y;
    if (k->drag == DRAG_NONE) {
        hover(k);
        return true;
    }
    boxes(k, &b);
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
    } else {
        to_minimap(k, &b, x);
    }
    link_views(k);
    return true;
}

bool control_release(control *k, double x, double y)
{
    control_drag was = k->drag;
    view *v = focused(k);

    k->drag = DRAG_NONE;
    k->mouse_x = x;
    k->mouse_y = y;
    hover(k);
    if (k->moved && was != DRAG_MARK)
        view_show(v, v->from, v->to);
    if (!k->moved && was == DRAG_PAN)
        view_select(v, k->pages[k->focus].has_hover ? &k->pages[k->focus].hover
                                                    : NULL);
    if (!k->moved && was == DRAG_PAN)
        link_selection(k);
    if (!k->moved && was == DRAG_MARK)
        v->has_range = false;
    return was != DRAG_NONE;
}

bool control_wheel(control *k, double x, double y, unsigned mods)
{
    view *v = focused(k);
    paint_boxes b;

    boxes(k, &b);
    if (k->shows == PANEL_SOURCE && in_box(&b.panel, k->mouse_x, k->mouse_y)) {
        v->source_scroll -= fmin(fmax(y, -8), 8) * 3;
        v->source_scroll = fmin(fmax(v->source_scroll, -1e5), 1e5);
        return true;
    }
    if (mods & MOD_CTRL)
        v->scroll -= y * 60;
    else if (mods & MOD_SHIFT)
        view_pan(v, -y * 0.1);
    else if (y != 0)
        view_zoom(v, pow(0.8, fmin(fmax(y, -8), 8)), anchor(k));
    view_pan(v, fmin(fmax(x, -8), 8) * 0.1);
    link_views(k);
    clamp_scroll(k);
    hover(k);
    return true;
}

/* --- painting ------------------------------------------------------------ */

static void paint_help(const control *k, canvas *c)
{
    static const char *const keys[][2] = {
        {"W S, wheel", "zoom in, out at the mouse"},
        {"A D, \xe2\x86\x90 \xe2\x86\x92, drag", "move; with shift further"},
        {"0, Home, double-click", "the whole trace"},
        {"Enter", "zoom to the marked range or the selection"},
        {"Backspace, Alt+\xe2\x86\x90 \xe2\x86\x92", "back, forward"},
        {"click, Tab, \xe2\x86\x91 \xe2\x86\x93",
         "select; next slice; next row"},
        {"shift+drag, drag on the axis", "measure a range"},
        {"m", "measure the selection; again: no range"},
        {"/  n  N", "search names and groups; next, previous"},
        {"ctrl+1 \xe2\x80\xa6 9,  1 \xe2\x80\xa6 9",
         "set a bookmark, go to it"},
        {"f  p  h  H", "fold, pin, hide the row; show all"},
        {"F", "fold, unfold all rows of that kind"},
        {"J K", "move the row down, up"},
        {"l   . ,", "source with cycles per line; next, previous line"},
        {"c   [ ]", "what got slower; previous, next of the list"},
        {"v", "compared: both, A, B, one in the other"},
        {"PgUp PgDn, ctrl+wheel", "scroll the rows"},
        {"u  t", "unit of time; light or dark"},
        {"e", "export the picture and the selection"},
        {"?  Esc  q", "this help; nothing selected; quit"}};
    const theme *colors = k->pages[0].colors;
    double n = sizeof keys / sizeof *keys, w = 560, h = n * 22 + 54;
    double x = (k->width - w) / 2, y = (k->height - h) / 2;

    cv_fill(c, x, y, w, h, colors->panel);
    cv_frame(c, x, y, w, h, colors->strong_line);
    cv_text(c, x + 20, y + 22, CV_TITLE, colors->text, "Keys");
    for (int i = 0; i < (int)n; i++) {
        double ly = y + 52 + i * 22;

        cv_text(c, x + 20, ly, CV_BOLD, colors->text, keys[i][0]);
        cv_text(c, x + 250, ly, CV_NORMAL, colors->text, keys[i][1]);
    }
}

void control_paint(control *k, canvas *c)
{
    for (int i = 0; i < k->n; i++)
        if (is_shown(k, i))
            paint(c, &k->pages[i]);
    if (k->help)
        paint_help(k, c);
}
